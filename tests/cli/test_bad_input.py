"""Words that no training prepares for: every model answers them, nothing is lost silently."""

import json
from pathlib import Path

import pytest

import regard.cli
from regard.training.recipes import load_recipe, recipe_names

TRAINED = [a + b + c for a in "abc" for b in "def" for c in "ghi"]
LONG = "abcdefghi" * 33 + "abc"

#: One letter, letters never seen, marks that cannot be seen, doubles, 300 letters, spaces around.
WORDS = ["a", "☃", "a☃ż", "ab\u200ecd", "aaa", LONG, " a b ", "\u00a0a"]


def spaced(word: str) -> str:
    return " ".join(word.replace(" ", "").replace("\u00a0", ""))


def write(path: Path, words: list[str]) -> Path:
    path.write_text("".join(f"{word}\t{spaced(word)}\n" for word in words), encoding="utf-8")
    return path


def small(recipe: str) -> list[str]:
    """Settings that make a recipe a small model of characters to symbols."""
    sizes = {k: v for k, v in leaves(load_recipe(recipe).as_dict()["model"]) if k.endswith("size")}
    sizes = {key: value for key, value in sizes.items() if value}
    divisor = max(1, max(sizes.values()) // 16)
    kind = "character" if recipe == "pointer" else "space"  # what copies needs one kind
    settings = [
        f"tokenization={{joint: false, source: {{kind: character}}, target: {{kind: {kind}}}}}",
        *(f"model.{key}={value // divisor}" for key, value in sizes.items()),
        "model.embedding.share=false",
        "training.warmup=1",
        "training.maximum_updates=2",
        "training.validation_interval=2",
        "training.average.kind=none",
        "training.metric=exact_match",
        "training.threads=1",
        "search={beam: 2, maximum_length_ratio: 0.1, maximum_length_extra: 9}",
    ]
    return [part for setting in settings for part in ("--set", setting)]


def words_for(recipe: str) -> list[str]:
    """What a recipe can read: location attention has an end."""
    return [word for word in WORDS if recipe != "luong-location" or word != LONG]


def leaves(section: dict, path: str = "") -> list[tuple[str, object]]:
    found = []
    for key, value in section.items():
        inside = isinstance(value, dict)
        found += leaves(value, f"{path}{key}.") if inside else [(f"{path}{key}", value)]
    return found


def train_command(recipe: str, directory: Path) -> list[object]:
    train = write(directory / "train.tsv", [*TRAINED, LONG])
    valid = write(directory / "valid.tsv", words_for(recipe))
    valid.write_bytes(valid.read_bytes() + "\tx\nx\t \u3000\n".encode())
    out = directory / "run"
    return ["train", recipe, "--train", train, "--valid", valid, "--out", out, *small(recipe)]


@pytest.fixture
def run(capfdbinary):
    """Runs a command in this process: standard output and error, after an exit with 0."""

    def run(*arguments: object) -> tuple[list[str], str]:
        code = regard.cli.run([str(argument) for argument in arguments])
        out, said = (stream.decode("utf-8") for stream in capfdbinary.readouterr())
        assert code == 0, said
        return out.split("\n")[:-1], said

    return run


@pytest.fixture(scope="module")
def trained(regard, tmp_path_factory) -> tuple[Path, str]:
    """A model of the recipe rnnsearch, and what was said in training it."""
    directory = tmp_path_factory.mktemp("bad")
    done = regard(*train_command("rnnsearch", directory), check=True)
    return directory / "run", done.stderr.decode("utf-8")


def test_training_tells_what_it_cannot_learn(trained):
    said = trained[1]
    assert "1 left out (longer than 200 tokens)" in said
    assert "copying or memorizing alone: exact_match 37.50" in said  # a, ☃ and the long one
    assert "5 of 8 validation sources have symbols never seen in training" in said
    assert "☃, ż, U+200E, U+0020, U+00A0" in said
    assert "3 of 8 validation sources cannot be answered right" in said
    assert "this model is no better than copying" in said


def translate(run, model: Path, directory: Path) -> tuple[list[dict], str]:
    file = directory / "in.txt"
    file.write_text("".join(f"{line}\n" for line in [*WORDS, "", "\t \u3000"]), encoding="utf-8")
    rows, said = run("translate", "--model", model, "--json", "--threads", 1, file)
    return [json.loads(row) for row in rows], said


def test_every_line_is_answered_and_what_is_unseen_is_named(run, trained, tmp_path):
    answers, said = translate(run, trained[0], tmp_path)
    assert [answer["source"] for answer in answers] == [*WORDS, "", "\t \u3000"]
    for word, answer in zip(WORDS, answers, strict=False):
        assert answer["tokens"] and answer["score"] < 0 and "error" not in answer
        assert answer["source_tokens"] == [*word, "</s>"]  # nothing is left out
        assert answer["unseen"] == list(dict.fromkeys(s for s in word if s not in "abcdefghi"))
    assert all((answer["text"], answer["tokens"]) == ("", []) for answer in answers[len(WORDS) :])
    unknown = "never seen in training, so read as unknown"
    assert f"line 2: {unknown}: ☃\n" in said and f"line 3: {unknown}: ☃, ż\n" in said
    assert f"line 4: {unknown}: U+200E\n" in said and f"line 7: {unknown}: U+0020\n" in said
    assert said.count(unknown) == 5 and "line 5" not in said


def test_given_targets_come_back_whole(run, trained, tmp_path):
    data = tmp_path / "pairs.tsv"
    data.write_text(f"a\ta\n\tb\nb\ta ☃\n☃\ta\na\t{spaced(LONG)}\n", encoding="utf-8")
    rows, said = run("score", "--model", trained[0], "--data", data, "--threads", 1)
    shown = [row.split("\t")[2:] for row in rows]
    assert shown == [["a", "a"], ["b", "a ☃"], ["☃", "a"], ["a", spaced(LONG)]]
    assert all(float(row.split("\t")[0]) < 0 for row in rows)
    assert "line 3: in no training target, so scored as unknown: ☃\n" in said
    assert "line 4: never seen in training, so read as unknown: ☃\n" in said


def test_measuring_names_lines_and_floors(run, trained, tmp_path):
    data = write(tmp_path / "pairs.tsv", ["", "a", *["☃" + letter for letter in "abcdefg"]])
    rows, said = run("evaluate", "--model", trained[0], "--data", data, "--threads", 1)
    assert "line 3: never seen" in said and "line 7: never seen" in said
    assert "line 8" not in said and "2 more lines have symbols never seen in training" in said
    assert "1 pair with a blank side dropped" in said
    assert any(row.startswith("7 of 8 sources cannot be answered right") for row in rows)
    assert any(row.endswith("no training target has: ☃") for row in rows)


def test_showing(run, trained, tmp_path):
    out = tmp_path / "x.json"
    _, said = run("show", "--model", trained[0], "a☃", "--out", out, "--threads", 1)
    assert "TEXT: never seen in training, so read as unknown: ☃" in said
    assert json.loads(out.read_bytes())["source_tokens"] == ["a", "☃", "</s>"]
    given = ("--target", "a ☃", "--out", out, "--threads", 1)
    shown, said = run("show", "--model", trained[0], "a", *given)
    assert shown == ["a ☃"] and "in no training target" in said


@pytest.mark.slow
@pytest.mark.parametrize("recipe", recipe_names(pictures=False))
def test_every_recipe(run, recipe, tmp_path):
    run(*train_command(recipe, tmp_path))
    model, words = tmp_path / "run", words_for(recipe)
    file = tmp_path / "in.txt"
    file.write_text("".join(f"{line}\n" for line in [*words, "", " "]), encoding="utf-8")
    rows, _ = run("translate", "--model", model, "--json", "--threads", 1, file)
    answers = [json.loads(row) for row in rows]
    for word, answer in zip(words, answers, strict=False):
        assert answer["tokens"] and answer["source_tokens"] == [*word, "</s>"]
        assert not answer["unseen"] or recipe != "pointer"
    assert len(answers) == len(words) + 2 and answers[-1]["text"] == ""
    data = write(tmp_path / "pairs.tsv", words)
    extra = ("--train", tmp_path / "train.tsv", "--confusions", 3)
    rows, _ = run("evaluate", "--model", model, "--data", data, *extra, "--threads", 1)
    assert any("edits: " in row for row in rows)
    rows, _ = run("score", "--model", model, "--data", data, "--threads", 1)
    assert [row.split("\t")[3] for row in rows] == [spaced(word) for word in words]
