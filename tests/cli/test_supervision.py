"""`train --alignments`: links of words for attention to learn from, by the command line."""

import json
from pathlib import Path

import pytest

TINY = (
    "tokenization={joint: false, source: {kind: space}, target: {kind: space}}",
    "model.embedding={size: 16, share: false, tie_output: false}",
    "model.encoder.size=16",
    "model.decoder.size=16",
    "model.decoder.readout_size=16",
    "model.decoder.attention.size=16",
    "batching.tokens=600",
    "training.maximum_updates=20",
    "training.validation_interval=20",
    "training.average.kind=none",
)
SETTINGS = [part for setting in TINY for part in ("--set", setting)]


@pytest.fixture
def train(run_text, scenes_data, tmp_path):
    """Trains on the scenes; more arguments as given."""

    def train(*more: object, recipe: str = "rnnsearch") -> tuple[int, str, str]:
        data = [f"--{name}={scenes_data / name}" for name in ("train", "valid")]
        sides = ("--source", "en", "--target", "de", "--threads", 1, "--no-report")
        out = ("--out", tmp_path / "run")
        return run_text("train", recipe, *data, *sides, *out, *SETTINGS, *more)

    return train


def test_links_are_learned_from_and_told(train, scenes_data, tmp_path):
    links = scenes_data / "train.en-de.align"
    code, _, said = train("--alignments", links)
    count = len(links.read_text("utf-8").split())
    assert code == 0 and f"with {count:,} links of their words" in said
    first = json.loads((tmp_path / "run" / "metrics.jsonl").read_text("utf-8").split("\n")[0])
    assert first["links"] == count


def test_a_resumed_run_wants_the_same_links(train, scenes_data):
    links = scenes_data / "train.en-de.align"
    assert train("--alignments", links)[0] == 0
    code, _, said = train("--resume", "--set", "training.maximum_updates=25")
    assert code == 2 and "training pairs are not those" in said
    more = ("--resume", "--set", "training.maximum_updates=25", "--alignments", links)
    assert train(*more)[0] == 0


def test_links_of_other_data(train, scenes_data, tmp_path):
    code, _, said = train("--alignments", scenes_data / "test.en-de.align")
    assert code == 2 and said.count("\n") == 1 and "test.en-de.align" in said
    assert not (tmp_path / "run").exists()
    code, _, said = train("--alignments", tmp_path / "nowhere")
    assert code == 2 and "nowhere" in said


def test_a_recipe_that_cannot(run_text, scenes_data, tmp_path):
    data = [f"--{name}={scenes_data / name}" for name in ("train", "valid")]
    sides = ("--source", "en", "--target", "de", "--out", tmp_path / "run")
    links = ("--alignments", scenes_data / "train.en-de.align")
    code, _, said = run_text("train", "pointer", *data, *sides, *links)
    assert code == 2 and said.count("\n") == 1
    assert "the recipe pointer cannot learn its attention from them" in said
    assert not (tmp_path / "run").exists()


def test_captions_have_no_links(run_text, tmp_path):
    data = ("--train", tmp_path / "captions.csv", "--out", tmp_path / "run")
    options = ("--alignments", tmp_path / "links")
    code, _, said = run_text("train", "show-attend-tell-soft", *data, *options)
    assert code == 2 and "--alignments is for texts" in said


def test_the_file_may_count_blank_pairs(run_text, tmp_path):
    """A line for each line of the data, whatever becomes of it."""
    data, links = tmp_path / "pairs.tsv", tmp_path / "links"
    data.write_text("a b\tx y\n \tz\nc\tz\n" * 8, encoding="utf-8")
    links.write_text("0-1 1-0\n\n0-0\n" * 8, encoding="utf-8")
    command = ("train", "rnnsearch", "--train", data, "--valid", data, "--out", tmp_path / "run")
    code, _, said = run_text(*command, "--no-report", *SETTINGS, "--alignments", links)
    assert code == 0 and "with 24 links of their words" in said


def test_each_line_is_that_of_its_pair(run_text, tmp_path):
    data, links = tmp_path / "pairs.tsv", Path(tmp_path / "links")
    data.write_text("a b\tx y\nc\tz\n", encoding="utf-8")
    links.write_text("0-0\n1-0\n", encoding="utf-8")
    command = ("train", "rnnsearch", "--train", data, "--valid", data, "--out", tmp_path / "run")
    code, _, said = run_text(*command, "--alignments", links)
    assert code == 2 and "line 2: 1 of 2 links point past the end of their sentence" in said
