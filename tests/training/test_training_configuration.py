"""Recipes, overrides and what is said of a wrong one."""

from pathlib import Path

import pytest

from regard.data.special import SPECIAL_TOKENS
from regard.errors import UserError
from regard.models import GridShape, build_model
from regard.training.configuration import Configuration
from regard.training.keys import dotted_keys, nearest_key
from regard.training.problems import resolve
from regard.training.recipes import list_recipes, load_recipe, recipe_names
from regard.training.yaml_text import parse_yaml, to_yaml

RECIPE = """\
recipe: mine
model:
  encoder: {kind: transformer, layers: 2}
  decoder: {kind: recurrent, start: {from: mean}}
training:
  warmup: 7
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def refusal(path: Path | str, *overrides: str) -> str:
    with pytest.raises(UserError) as caught:
        load_recipe(path, overrides)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", recipe_names())
def test_every_shipped_recipe_loads_and_builds(name: str) -> None:
    configuration = load_recipe(name)
    assert configuration.recipe == name and configuration.description
    build_model(configuration.model, 20, 20, grid=GridShape(2, 3, 8))


def test_recipes_of_texts_and_of_pictures() -> None:
    texts, pictures = recipe_names(pictures=False), recipe_names(pictures=True)
    assert sorted(texts + pictures) == recipe_names()
    assert {"show-tell", "show-attend-tell-soft", "caption-transformer"} <= set(pictures)
    assert {"rnnsearch", "transformer-tiny"} <= set(texts)


def test_recipes_are_listed_with_a_line_each() -> None:
    recipes = list_recipes()
    assert {"seq2seq", "rnnsearch", "luong-dot", "luong-general", "transformer-tiny"} <= {
        recipe.name for recipe in recipes
    }
    for recipe in recipes:
        assert recipe.description and "\n" not in recipe.description
        assert parse_yaml(recipe.text, recipe.name)["recipe"] == recipe.name


def test_a_recipe_says_only_what_differs(recipe: Path) -> None:
    configuration = load_recipe(recipe)
    assert configuration.recipe == "mine"
    assert configuration.training.warmup == 7
    assert configuration.training.learning_rate == Configuration(recipe="x").training.learning_rate
    assert configuration.model.encoder.kind == "transformer"
    assert configuration.model.decoder.start.from_ == "mean"


def test_a_resolved_configuration_comes_back_from_yaml(recipe: Path) -> None:
    configuration = load_recipe(recipe)
    text = to_yaml(configuration.as_dict())
    assert "from: mean" in text
    assert resolve(parse_yaml(text, "x"), "x") == configuration


def test_a_runs_configuration_is_a_recipe(recipe: Path, tmp_path: Path) -> None:
    configuration = load_recipe(recipe)
    path = tmp_path / "config.yaml"
    facts = {"regard": "0.1.0", "vocabulary": {"source": 9, "target": 9}}
    path.write_text(to_yaml({**facts, **configuration.as_dict()}), encoding="utf-8")
    assert load_recipe(path) == configuration


def test_overrides(recipe: Path) -> None:
    configuration = load_recipe(
        recipe,
        [
            "training.learning_rate=1e-3",
            "training.betas=[0.8, 0.9]",
            "training.average.count=3",
            "model.encoder.heads=2",  # only of the kind that comes next
            "model.encoder.kind=transformer",
            "model.decoder={kind: transformer, layers: 1}",
            "training.warmup=8",
            "training.warmup=9",
        ],
    )
    assert configuration.training.learning_rate == 0.001
    assert configuration.training.betas == (0.8, 0.9)
    assert configuration.training.average.count == 3
    assert configuration.training.average.kind == "best"
    assert configuration.model.encoder.layers == 2 and configuration.model.encoder.heads == 2
    assert configuration.model.decoder.kind == "transformer"
    assert configuration.training.warmup == 9


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("training.learning_raet=1", "training.learning_rate"),
        ("training.label_smothing=1", "training.label_smoothing"),
        ("training.patiance=1", "training.patience"),
        ("trainig.warmup=1", "training.warmup"),
        ("trainig={warmup: 1}", "training"),
        ("learning_rate=1", "training.learning_rate"),
        ("model.learning_rate=1", "training.learning_rate"),
        ("optimizer.learning_rate=1", "training.learning_rate"),
        ("model.encoder.layer=1", "model.encoder.layers"),
        ("model.decoder.attention.scoer=dot", "model.decoder.attention.score"),
        ("search.beam_size=1", "search.beam"),
        ("training.averge.kind=last", "training.average.kind"),
    ],
)
def test_an_unknown_key_names_the_nearest(recipe: Path, written: str, meant: str) -> None:
    message = refusal(recipe, written)
    assert message.startswith(f"--set {written}: the ")
    assert message.endswith(f"did you mean {meant}?")


def test_an_unknown_key_without_a_near_one_lists_its_section(recipe: Path) -> None:
    message = refusal(recipe, "training.average.zzz=2")
    assert message.endswith(
        "the section training.average has no key zzz; it has kind, count, decay"
    )


def test_an_unknown_key_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("training:\n  learning_raet: 1\n", encoding="utf-8")
    assert refusal(path) == (
        f"{path}: the section training has no key learning_raet; "
        "did you mean training.learning_rate?"
    )


def test_the_file_is_blamed_for_its_own_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("training: {warmup: -1}\n", encoding="utf-8")
    assert refusal(path, "training.seed=3").startswith(f"{path}: training.warmup is -1")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        (
            "training.learning_rate=fast",
            "training.learning_rate is fast; it must be a valid num",
        ),
        ("training.learning_rate=-1", "training.learning_rate is -1; it must be greater than 0"),
        (
            "training.learning_rate=.inf",
            "training.learning_rate is inf; it must be a finite",
        ),
        ("training.optimizer=sgd", "training.optimizer is sgd; it must be 'adam' or 'adamw'"),
        ("training.metric=wer", "training.metric is wer; it must be 'bleu', 'chrf', "),
        ("training.label_smoothing=1", "training.label_smoothing is 1; it must be less than 1"),
        ("training.betas=[0.9]", "training.betas.1 is missing"),
        ("training.betas=[0.9, 2]", "training.betas.1 is 2; it must be less than 1"),
        ("training.betas=0.9", "training.betas is 0.9; it must be a list"),
        ("training.warmup=1.5", "training.warmup is 1.5; it must be a valid integer"),
        ("training.warmup=true", "training.warmup is true; it must be a number"),
        ("training.warmup=", "training.warmup is empty; it must be a valid integer"),
        ("training=", "training is empty; it must be a section of `key: value`"),
        ("model.encoder=3", "model.encoder is 3; it must be a section of `key: value`"),
        (
            "model.encoder.kind=cnn",
            "model.encoder.kind is cnn; it must be 'recurrent', ",
        ),
        (
            "model.encoder={size: 3}",
            "model.encoder.kind is missing; it must be recurrent or",
        ),
        (
            "model.decoder.start.from=x",
            "model.decoder.start.from is x; it must be 'backward",
        ),
        (
            "model.embedding.share=maybe",
            "model.embedding.share is maybe; it must be a valid",
        ),
        ("recipe=[a]", "recipe is ['a']; it must be a valid string"),
        ("training.schedule=linear,training.maximum_updates=5", "training: schedule linear falls"),
        ("model.embedding.share=true,tokenization.joint=false", "tokenization.joint to true"),
    ],
)
def test_a_wrong_value_names_key_value_and_what_is_right(
    recipe: Path, override: str, said: str
) -> None:
    if override.startswith(("training.schedule", "model.embedding.share=true")):
        assert said in refusal(recipe, *override.split(","))
    else:
        assert said in refusal(recipe, override)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("training.warmup", "write section.key=value"),
        ("=3", "write section.key=value"),
        ("training.=3", "write section.key=value"),
        ("training.warmup.x=1", "7 stands where a section should be"),
        ("training.seed.x=1", "training.seed is a single value and has no keys"),
        ("training.betas=[1", "not YAML"),
        ("batching={tokens: 3, tokens: 4}", "the key tokens comes twice"),
    ],
)
def test_an_override_that_cannot_be_read(recipe: Path, override: str, said: str) -> None:
    message = refusal(recipe, override)
    assert message.startswith(f"--set {override}:") and said in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"training: [1\nsearch: 2", ":2: not YAML: expected ',' or ']'"),
        (b"recipe: a\ntraining:\n  warmup: 1\n  warmup: 2\n", ":4: not YAML: the key warmup comes"),
        (b"recipe: a\ndescription: \xff\n", ":2: not UTF-8"),
        (b"a: b\0c", "not YAML: special characters"),
        (b"", "holds nothing where sections"),
        (b"- a\n", "holds a list where sections"),
        (b"training: &a {warmup: 1}\nsearch: *b\n", ":2: not YAML: found undefined alias"),
        (b"training: {warmup: !!python/name:os.system 1}", ":1: not YAML: could not determine"),
    ],
)
def test_bad_yaml_names_file_and_line(tmp_path: Path, text: bytes, said: str) -> None:
    path = tmp_path / "r.yaml"
    path.write_bytes(text)
    message = refusal(path)
    assert message.startswith(str(path)) and said in message


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_bytes(b"\xef\xbb\xbftraining: {warmup: 3}\n")
    assert load_recipe(path).training.warmup == 3
    assert load_recipe(path).recipe == "r"


def test_unknown_recipes() -> None:
    assert "did you mean rnnsearch?" in refusal("rnn-search")
    assert f"there are {', '.join(recipe_names())}, or give" in refusal("zzz")
    assert "does not exist" in refusal("zzz.yaml")
    assert "is a directory" in refusal(Path(__file__).parent)


def test_keys_of_the_chosen_kind_alone() -> None:
    keys = set(dotted_keys(Configuration, {"model": {"encoder": {"kind": "transformer"}}}))
    assert "model.encoder.heads" in keys and "model.encoder.bidirectional" not in keys
    assert "model.decoder.start.from" in keys and "training.average.kind" in keys
    assert nearest_key(Configuration, {}, ("model",), "zzzzzz") is None


def test_symbols_beyond_the_specials() -> None:
    assert f"must be greater than {len(SPECIAL_TOKENS)}" in refusal(
        "rnnsearch", "tokenization.source.size=2"
    )
