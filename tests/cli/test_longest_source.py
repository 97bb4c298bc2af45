"""A model that cannot read every length: the others are answered, the long one is named."""

import json
from pathlib import Path

import pytest

SETTINGS = (
    "tokenization={joint: false, source: {kind: character}, target: {kind: character}}",
    "batching={tokens: 300, maximum_length: 12}",
    "model.embedding={size: 8}",
    "model.encoder={kind: recurrent, cell: lstm, size: 4}",
    "model.decoder.size=8",
    "model.decoder.readout_size=8",
    "model.decoder.attention={score: location, maximum_positions: 12}",
    "training.maximum_updates=2",
    "training.metric=exact_match",
    "training.average.kind=none",
)
LONG = "abcdefghijklmno"


@pytest.fixture(scope="module")
def run(regard, tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("location")
    data = directory / "words.tsv"
    data.write_text("".join(f"{a}{b}\t{b}{a}\n" for a in LONG for b in LONG), encoding="utf-8")
    sets = [part for setting in SETTINGS for part in ("--set", setting)]
    files = ("--train", data, "--valid", data, "--out", directory / "run")
    regard("train", "luong-location", *files, "--threads", 1, *sets, check=True)
    return directory / "run"


def test_translate_answers_the_others(regard, run):
    lines = ["ab", "", LONG[:11], LONG[:12], "ba"]
    done = regard("translate", "--model", run, "--json", input="\n".join(lines).encode())
    rows = [json.loads(line) for line in done.stdout.decode().splitlines()]
    said = done.stderr.decode()
    assert done.returncode == 2 and "Traceback" not in said
    assert [("error" in row, row["score"] is None) for row in rows] == [
        (False, False),
        (False, True),
        (False, False),
        (True, True),
        (False, False),
    ]
    assert "line 4: 13 tokens with the end symbol" in said
    assert "reads at most 12" in said and "1 line of the input could not be answered" in said


def test_score_scores_the_others(regard, run, tmp_path):
    data = tmp_path / "pairs.tsv"
    data.write_text(f"ab\tba\n{LONG}\tba\nba\tab\n", encoding="utf-8")
    done = regard("score", "--model", run, "--data", data)
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert done.returncode == 2 and b"line 2: 16 tokens" in done.stderr
    assert [row[2:] for row in rows] == [["ab", "ba"], [LONG, "ba"], ["ba", "ab"]]
    assert rows[1][:2] == ["", ""] and float(rows[0][0]) < 0 > float(rows[2][0])


def test_evaluate_and_show_refuse(regard, refused, run, tmp_path):
    data = tmp_path / "pairs.tsv"
    data.write_text(f"ab\tba\n{LONG}\tba\n", encoding="utf-8")
    refused(regard("evaluate", "--model", run, "--data", data), "16 tokens", "pairs.tsv")
    out = tmp_path / "picture.svg"
    refused(regard("show", "--model", run, LONG, "--out", out), "TEXT has 16 tokens")
    assert not out.exists()


def test_training_refuses_longer_pairs_than_it_can_read(regard, refused, tmp_path):
    data = tmp_path / "words.tsv"
    data.write_text("ab\tba\n", encoding="utf-8")
    more = ("--set", "batching.maximum_length=201")
    files = ("--train", data, "--valid", data, "--out", tmp_path / "run")
    hard = ("--set", "model.decoder.order=0", "--set", "model.decoder.attention.score=location")
    for recipe in (("luong-location",), ("hard-monotonic", *hard)):
        done = regard("train", *recipe, *files, *more)
        refused(done, "maximum_positions (200)", "batching.maximum_length (201)")


def test_training_refuses_to_validate_on_what_it_cannot_read(regard, refused, tmp_path):
    data, valid = tmp_path / "words.tsv", tmp_path / "valid.tsv"
    data.write_text("ab\tba\n", encoding="utf-8")
    valid.write_text(f"ab\tba\n{LONG}\tba\n", encoding="utf-8")
    sets = [part for setting in SETTINGS for part in ("--set", setting)]
    files = ("--train", data, "--valid", valid, "--out", tmp_path / "run")
    done = regard("train", "luong-location", *files, "--threads", 1, *sets)
    refused(done, "valid.tsv", "16 tokens", "at most 12", "maximum_positions")
    assert not (tmp_path / "run").exists()
