"""Training on pictures: the same training, from grids in place of texts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.data.pairs import Pairs
from regard.data.pictures import HeldGrids, Picture
from regard.errors import UserError
from regard.training.baseline import measure_baseline
from regard.training.configuration import Configuration
from regard.training.continuation import flat
from regard.training.interruption import TrainingInterrupted
from regard.training.metrics import read_metrics
from regard.training.problems import resolve
from regard.training.progress import Silence
from regard.training.recipes import load_recipe
from regard.training.run import load_run, read_configuration
from regard.training.train import train
from regard.training.validation import prepare_validation, validate
from regard.training.yaml_text import read_yaml

from .outcome import assert_same
from .test_resume import StopAt
from .tiny import reversals, tiny
from .tiny_pictures import BACKBONE, COLUMNS, ROWS, colored, describing

TRAIN, VALID = colored(80), colored(12, seed=6, name="valid")
HARD = {"attention": {"score": "additive", "size": 16, "select": "hard", "hard_expectation": 0.5}}


def run(out: Path, configuration: Configuration | None = None, **options: Any) -> Any:
    options = {"progress": False, "backbone": BACKBONE, **options}
    return train(configuration or describing(), TRAIN, VALID, out, **options)


class Told(Silence):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)


def test_a_run(tmp_path: Path) -> None:
    """Captions are pairs, pictures are what is validated on; the directory says what it reads."""
    out, told = tmp_path / "run", Told()
    result = run(out, progress=told)
    (start,) = [line for line in read_metrics(out / "metrics.jsonl") if line["kind"] == "start"]
    assert (start["pairs"], start["validation_pairs"], start["validation_sources"]) == (160, 24, 12)
    assert start["grid"] == {"rows": ROWS, "columns": COLUMNS, "size": BACKBONE.size}
    assert start["vocabulary"] == {"target": 4 + 6 + 3} and start["validation_unseen"] == 0
    assert start["backbone"] == BACKBONE.fingerprint
    assert told.messages[0] == "training on 160 captions of colors"
    assert told.messages[1].startswith("validating on 12 pictures of valid; the most frequent")
    assert "13 symbols, grids of 2 x 2 vectors of 48" in told.messages[2]

    configuration, sizes, _ = read_configuration(out)
    assert configuration == describing() and sizes.grid == (ROWS, COLUMNS, BACKBONE.size)
    loaded = load_run(out)
    assert loaded.backbone is not None and loaded.backbone.fingerprint == BACKBONE.fingerprint
    data = prepare_validation(VALID, loaded.tokenizers, loaded.configuration)
    again = validate(
        loaded.model, loaded.tokenizers, data, loaded.configuration, lambda done, total: None
    )
    assert again.score.value == result.score
    assert load_recipe(out / "config.yaml").model == configuration.model


@pytest.mark.parametrize("decoder", [{}, HARD], ids=["soft", "hard"])
def test_resuming_changes_nothing(decoder: dict[str, Any], tmp_path: Path) -> None:
    """Bit by bit; with the baseline of rewards too."""
    chosen = describing(decoder, doubly_stochastic=0.5, maximum_updates=14)
    run(tmp_path / "whole", chosen)
    with pytest.raises(TrainingInterrupted):
        run(tmp_path / "run", chosen, stop=StopAt(9))
    run(tmp_path / "run", chosen, resume=True)
    assert_same(tmp_path / "whole", tmp_path / "run")


def test_a_run_goes_on_with_its_own_backbone_alone(tmp_path: Path) -> None:
    with pytest.raises(TrainingInterrupted):
        run(tmp_path / "run", stop=StopAt(9))

    class Other:
        fingerprint = "another"

        def __getattr__(self, name: str) -> Any:
            return getattr(BACKBONE, name)

    with pytest.raises(UserError, match="the backbone is not the one that the run"):
        run(tmp_path / "run", resume=True, backbone=Other())


def test_features_that_come_ready_made(tmp_path: Path) -> None:
    """No backbone is kept, and none is spoken of."""
    run(tmp_path / "run", backbone=None)
    loaded = load_run(tmp_path / "run")
    assert loaded.configuration.backbone is None and loaded.backbone is None


def test_the_baseline_is_the_most_frequent_caption() -> None:
    often = Pairs((*TRAIN.pairs, TRAIN[3], TRAIN[3]), "often")
    asked = Pairs((*TRAIN.pairs[4:6], *VALID.pairs[:2]), "asked")
    from regard.data.tokenizers import train_tokenizers

    configuration = describing()
    tokenizers = train_tokenizers(configuration.tokenization, often)
    validation = prepare_validation(asked, tokenizers, configuration)
    baseline = measure_baseline(often, validation, "exact_match", "space")
    known = VALID[0].target == TRAIN[3].target or VALID[1].target == TRAIN[3].target
    assert (baseline.score, baseline.seen) == (100 if known else 50, 1)


@pytest.mark.parametrize("metric", ["bleu_4", "cider_d", "rouge_l", "meteor_exact_stem", "bleu"])
def test_metrics_of_captions_choose_models(metric: str, tmp_path: Path) -> None:
    result = run(tmp_path / "run", describing(maximum_updates=2, metric=metric))
    assert result.metric == metric and 0 <= result.score <= 1000


def shaped(pairs: Pairs, rows: int, columns: int) -> Pairs:
    held = HeldGrids(torch.zeros(99, rows * columns, BACKBONE.size), rows, columns)
    moved = (replace(p, picture=Picture(held, p.picture.number)) for p in pairs if p.picture)
    return Pairs(tuple(moved), "others")


@pytest.mark.parametrize(
    ("configuration", "learned", "valid", "message"),
    [
        (describing(), reversals(9), VALID, "reads pictures, and reversals has none"),
        (describing(), TRAIN, reversals(9), "reads pictures, and reversals has none"),
        (tiny(), TRAIN, VALID, "reads texts, and colors has pictures"),
        (describing(), TRAIN, shaped(VALID, 1, 4), "colors and others have grids of different"),
    ],
)
def test_what_does_not_fit_is_refused(
    configuration: Configuration, learned: Pairs, valid: Pairs, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        train(configuration, learned, valid, tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"tokenization": {"joint": False, "source": {"kind": "space"}}},
            "set tokenization.source to null",
        ),
        ({"model": {"encoder": {"kind": "recurrent"}}}, "which is for pictures: give it a token"),
        (
            {"model": {"encoder": {"kind": "recurrent"}}, "tokenization": {}},
            "backbone makes features of pictures, and this encoder reads texts",
        ),
        ({"backbone": {"name": "patchs"}}, "there is no backbone 'patchs'"),
        ({"backbone": {"nme": "patches"}}, "did you mean backbone.name"),
    ],
)
def test_configurations_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    data = describing().as_dict()
    data["model"] = {"encoder": {"kind": "grid"}, "decoder": {"kind": "recurrent"}}
    data["tokenization"] = {"source": None, "joint": True}
    with pytest.raises(UserError, match=message):
        resolve({**data, **changes}, "mine")


def test_what_is_filled_in() -> None:
    sections = {"encoder": {"kind": "grid"}, "decoder": {"kind": "recurrent"}}
    configuration = resolve({"recipe": "mine", "model": sections}, "mine")
    assert configuration.tokenization.source is None and configuration.backbone is not None
    assert "backbone.name" in flat(configuration.as_dict())
    plain = resolve({"recipe": "mine"}, "mine")
    assert plain.backbone is None and plain.tokenization.source is not None


@pytest.mark.parametrize("missing", ["grid", "grid.rows", "vocabulary.target"])
def test_damage_is_named(missing: str, tmp_path: Path) -> None:
    run(tmp_path / "run", describing(maximum_updates=1))
    path = tmp_path / "run" / "config.yaml"
    data: Any = read_yaml(path, "a configuration")
    section, _, key = missing.partition(".")
    if key:
        data[section][key] = 0
    else:
        del data[section]
    from regard.training.yaml_text import to_yaml

    path.write_text(to_yaml(data), encoding="utf-8")
    with pytest.raises(UserError, match=rf"config\.yaml: {missing}"):
        load_run(tmp_path / "run")
