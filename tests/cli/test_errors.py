"""What a user can get wrong: each is one line, exit 2, and leaves nothing half-written."""

import shutil
from pathlib import Path

import pytest

import regard.cli

ALIGNED = ("--source", "en", "--target", "de")


@pytest.fixture
def run(capfdbinary):
    """Runs a command in this process: exit code, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, bytes, str]:
        code = regard.cli.run([str(argument) for argument in arguments])
        out, error = capfdbinary.readouterr()
        return code, out, error.decode("utf-8")

    return run


@pytest.fixture
def fails(run):
    """Asserts that a command ends with exit 2 and one line that names every part."""

    def fails(arguments, *parts: object) -> None:
        code, out, said = run(*arguments)
        assert code == 2, said
        assert out == b""
        errors = [line for line in said.split("\n") if line.startswith("regard: error: ")]
        assert len(errors) == 1 and said.endswith(errors[0] + "\n"), said
        for part in parts:
            assert str(part) in errors[0], (part, errors[0])

    return fails


@pytest.fixture
def pairs(tmp_path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("a b\tc d\nb\td\n", encoding="utf-8")
    return path


@pytest.fixture
def train(tmp_path, fails):
    """Asserts that training is refused, and that no run directory is left."""

    def train(data, *more, parts=(), recipe="rnnsearch", valid=None) -> None:
        out = tmp_path / "run"
        valid = data if valid is None else valid
        fails(["train", recipe, "--train", data, "--valid", valid, "--out", out, *more], *parts)
        assert not out.exists()

    return train


def test_a_wrong_key_names_its_section_and_the_nearest(train, pairs):
    setting = "training.learning_rat=1"
    train(pairs, "--set", setting, parts=(setting, "section training", "training.learning_rate"))


def test_a_wrong_key_in_a_file(train, pairs, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("model:\n  encodr: {kind: recurrent}\n", encoding="utf-8")
    train(pairs, recipe=mine, parts=(mine, "section model", "model.encoder"))


def test_a_wrong_value(train, pairs):
    train(pairs, "--set", "training.warmup=many", parts=("training.warmup", "many"))
    train(pairs, "--set", "training.warmup", parts=("key=value",))
    train(pairs, "--minutes", -1, parts=("minutes",))


def test_a_wrong_recipe(train, pairs, tmp_path):
    train(pairs, recipe="rnnserch", parts=("rnnserch", "rnnsearch"))
    train(pairs, recipe=tmp_path / "none.yaml", parts=("none.yaml",))


def test_missing_data(train, pairs, tmp_path):
    train(tmp_path / "none.tsv", parts=("none.tsv",))
    train(tmp_path / "none", *ALIGNED, parts=("none",))
    train(pairs, valid=tmp_path / "none.tsv", parts=("none.tsv",))


def test_data_that_is_empty_or_uneven(train, pairs, tmp_path):
    empty = tmp_path / "empty.tsv"
    empty.write_bytes(b"")
    train(empty, parts=(empty, "empty"))
    train(pairs, valid=empty, parts=(empty,))
    blank = tmp_path / "blank.tsv"
    blank.write_bytes(b"a\t \n\tb\n")
    train(blank, parts=(blank, "blank"))
    (tmp_path / "x.en").write_bytes(b"a\nb\n")
    (tmp_path / "x.de").write_bytes(b"a\n")
    train(tmp_path / "x", *ALIGNED, parts=("2 lines", "1"))


def test_data_that_cannot_be_read(train, tmp_path):
    bad = tmp_path / "bad.tsv"
    bad.write_bytes(b"a\tb\n\xff\tb\n")
    train(bad, parts=(bad, "line 2", "UTF-8"))
    bad.write_bytes(b"a\tb\nonly one\n")
    train(bad, parts=(bad, "line 2", "column"))


def test_all_pairs_too_long(train, pairs):
    pairs.write_text("a b\tc d\nb c\td\n", encoding="utf-8")
    characters = "tokenization={joint: false, source: {kind: character}, target: {kind: character}}"
    settings = ("batching.maximum_length=3", "model.embedding.share=false", characters)
    more = [part for setting in settings for part in ("--set", setting)]
    train(pairs, *more, parts=("maximum_length",))


def test_a_file_where_the_run_should_be(fails, pairs, tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"mine")
    command = ["train", "rnnsearch", "--train", pairs, "--valid", pairs]
    fails([*command, "--out", out], out, "file")
    fails([*command, "--out", out, "--resume"], out, "file")
    fails([*command, "--out", out / "below"], out)
    assert out.read_bytes() == b"mine"


def test_an_existing_directory_is_not_overwritten(fails, pairs, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_bytes(b"mine")
    command = ["train", "rnnsearch", "--train", pairs, "--valid", pairs, "--out", out]
    fails(command, out, "--resume")
    fails([*command, "--resume"], out, "not a run directory")
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


VERBS = (
    ("translate", "--model", "RUN", "DATA"),
    ("evaluate", "--model", "RUN", "--data", "DATA"),
    ("score", "--model", "RUN", "--data", "DATA"),
    ("show", "--model", "RUN", "--out", "OUT", "a"),
    ("info", "RUN"),
)


@pytest.mark.parametrize("verb", VERBS, ids=[verb[0] for verb in VERBS])
def test_directories_that_are_no_runs(fails, pairs, tmp_path, verb):
    def command(place):
        names = {"RUN": place, "DATA": pairs, "OUT": tmp_path / "out.html"}
        return [names.get(part, part) for part in verb]

    fails(command(tmp_path / "nothing"), "nothing", "does not exist")
    fails(command(pairs), pairs, "file")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "notes.txt").write_bytes(b"x")
    fails(command(foreign), foreign, "not a run directory")
    assert not (tmp_path / "out.html").exists()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _garbage(path: Path) -> None:
    path.write_bytes(b"\x80\x04garbage")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [_cut, _remove, _garbage, _empty])
@pytest.mark.parametrize(
    "part", ["config.yaml", "model.safetensors", "tokenizer/joint.model", "tokenizer/sides.json"]
)
def test_damaged_runs_name_the_part(fails, trained_run, tmp_path, part, damage):
    place = tmp_path / "run"
    shutil.copytree(trained_run, place, ignore=shutil.ignore_patterns("checkpoints"))
    if damage is _cut and part == "config.yaml":
        pytest.skip("half a YAML file may be a whole one")
    damage(place / part)
    text = tmp_path / "in.txt"
    text.write_bytes(b"a\n")
    out = tmp_path / "out.txt"
    fails(["translate", "--model", place, text, "--output", out], place)
    assert not out.exists()


def test_a_damaged_metrics_file(fails, trained_run, tmp_path):
    place = tmp_path / "run"
    shutil.copytree(trained_run, place)
    metrics = place / "metrics.jsonl"
    metrics.write_bytes(metrics.read_bytes() + b"{half\n")
    fails(["info", place], metrics, "damaged")
    metrics.unlink()
    fails(["info", place], metrics)


def test_files_that_are_not_there(fails, trained_run, tmp_path):
    fails(["translate", "--model", trained_run, tmp_path / "none.txt"], "none.txt")
    fails(["translate", "--model", trained_run, tmp_path], tmp_path, "directory")
    fails(["evaluate", "--model", trained_run, "--data", tmp_path / "none.tsv"], "none.tsv")
    fails(["score", "--model", trained_run, "--data", tmp_path / "none.jsonl"], "none.jsonl")


def test_places_that_cannot_be_written(fails, trained_run, pairs, tmp_path):
    text = tmp_path / "in.txt"
    text.write_bytes(b"a\n")
    translate = ["translate", "--model", trained_run, text, "--output"]
    fails([*translate, tmp_path / "no" / "out.txt"], "out.txt", "does not exist")
    fails([*translate, tmp_path], tmp_path, "directory")
    fails([*translate, pairs / "out"], "out", "file")
    if Path("/dev/full").exists():
        fails([*translate, "/dev/full"], "/dev/full", "full")
    show = ["show", "--model", trained_run, "a red circle", "--out"]
    fails([*show, tmp_path / "no" / "out.html"], "out.html")
    fails([*show, tmp_path / "out.pdf"], "out.pdf", ".html")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--nbest", 9, "--beam", 3], ["9", "3"]),
        (["--sample", "--temperature", 0], ["temperature"]),
        (["--sample", "--top-p", 7], ["top_p"]),
        (["--sample", "--beam", 2], ["--beam"]),
        (["--top-k", 5], ["--top-k", "--sample"]),
        (["--length-penalty", 99], ["--length-penalty"]),
        (["--length-penalty", "nan"], ["length"]),
    ],
)
def test_options_out_of_range(fails, trained_run, tmp_path, options, parts):
    text = tmp_path / "in.txt"
    text.write_bytes(b"a\n")
    out = tmp_path / "out"
    fails(["translate", "--model", trained_run, *options, "--output", out, text], *parts)
    assert not out.exists()


def test_blank_text_to_show(fails, trained_run, tmp_path):
    out = tmp_path / "out.html"
    fails(["show", "--model", trained_run, "--out", out, "  "], "TEXT")
    fails(["show", "--model", trained_run, "--out", out, "a", "--target", ""], "--target")
    assert not out.exists()
