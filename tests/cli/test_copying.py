"""Copying, through the installed command line: symbols that training never saw come out."""

import json
import math
import random
from pathlib import Path

import pytest

#: A pointer model that learns within seconds to write any word with an o behind it.
SETTINGS = (
    "batching.tokens=300",
    "model.embedding={size: 16, dropout: 0}",
    "model.encoder={kind: recurrent, cell: lstm, size: 12, dropout: 0}",
    "model.decoder.size=24",
    "model.decoder.readout_size=16",
    "model.decoder.dropout=0",
    "model.decoder.copying_unseen=0.2",
    "training.learning_rate=0.02",
    "training.warmup=10",
    "training.label_smoothing=0",
    "training.maximum_updates=90",
    "training.average.kind=none",
)
NEVER_SEEN = ["xyzzy", "Łódź", "a☃b", "xaxbx", "日本"]


@pytest.fixture(scope="module")
def run(regard, tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("copying")
    generator, data = random.Random(1), directory / "words.tsv"
    words = ["".join(generator.choices("abcdefgh", k=generator.randint(2, 6))) for _ in range(300)]
    data.write_text("".join(f"{word}\t{word}o\n" for word in words), encoding="utf-8")
    sets = [part for setting in SETTINGS for part in ("--set", setting)]
    files = ("--train", data, "--valid", data, "--out", directory / "run", "--threads", 1)
    regard("train", "pointer", *files, *sets, check=True)
    return directory / "run"


def test_unseen_symbols_are_copied(regard, run):
    given = "".join(f"{word}\n" for word in [*NEVER_SEEN, "", "abo"]).encode()
    done = regard("translate", "--model", run, "--json", input=given, check=True)
    assert b"never seen" not in done.stderr  # nothing was lost that a warning could tell of
    *answers, blank, seen = map(json.loads, done.stdout.decode().splitlines())
    assert blank["text"] == "" and seen["text"].startswith("ab")
    for word, answer in zip(NEVER_SEEN, answers, strict=True):
        assert answer["text"] == word + "o"
        assert answer["tokens"] == [*word, "o", "</s>"]
        assert answer["source_tokens"] == [*word, "</s>"]
        assert answer["alignment"] == [[0, 0]]
        assert all(abs(sum(row) - 1) < 1e-3 for row in answer["attention"])


def test_what_is_copied_is_right(regard, run, tmp_path):
    data = tmp_path / "data.tsv"
    data.write_text("".join(f"{word}\t{word}o\n" for word in NEVER_SEEN), encoding="utf-8")
    done = regard("evaluate", "--model", run, "--data", data, "--json", check=True)
    assert json.loads(done.stdout)["metrics"]["exact_match"]["value"] == 100


def test_what_is_copied_is_drawn(regard, run, tmp_path):
    regard("show", "--model", run, "日本", "--out", tmp_path / "seen.json", check=True)
    drawn = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    assert drawn["tokens"] == ["日", "本", "o", "</s>"]


def test_a_target_has_the_probability_of_copying(regard, run, tmp_path):
    """Of a symbol that its own source has; any other one stays unknown, and is named."""
    data = tmp_path / "pairs.tsv"
    data.write_text("xa\txao\nxa\tyao\n", encoding="utf-8")
    done = regard("score", "--model", run, "--data", data, "--json", check=True)
    copied, unknown = map(json.loads, done.stdout.decode().splitlines())
    assert copied["tokens"] == ["x", "a", "o", "</s>"] and copied["text"] == "xao"
    assert copied["token_scores"][0] > math.log(0.5)
    assert unknown["token_scores"][0] < math.log(0.05)
    assert "y" in done.stderr.decode()
