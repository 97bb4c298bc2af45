"""Several runs behind one `--model` each: they answer together."""

import json
import shutil
from pathlib import Path

import pytest

import regard as package

SETTINGS = (
    "tokenization={joint: false, source: {kind: character}, target: {kind: character}}",
    "batching.tokens=300",
    "model.embedding={size: 12}",
    "model.encoder={kind: recurrent, size: 6}",
    "model.decoder={kind: recurrent, size: 12, readout_size: 12, attention: {size: 12}}",
    "training.maximum_updates=30",
    "training.learning_rate=0.01",
    "training.metric=exact_match",
    "training.average.kind=none",
)


def train(regard, data: Path, out: Path, *more: object) -> Path:
    sets = [part for setting in SETTINGS for part in ("--set", setting)]
    files = ("--train", data, "--valid", data, "--out", out, "--threads", 1)
    regard("train", "rnnsearch", *files, *sets, *more, check=True)
    return out


@pytest.fixture(scope="module")
def runs(regard, tmp_path_factory) -> tuple[Path, Path, Path]:
    """Two seeds of one model, and one with another vocabulary."""
    directory = tmp_path_factory.mktemp("runs")
    data, other = directory / "words.tsv", directory / "other.tsv"
    words = [a + b + c for a in "abcd" for b in "efgh" for c in "ijkl"]
    data.write_text("".join(f"{word}\t{word[::-1]}\n" for word in words), encoding="utf-8")
    other.write_text("".join(f"{word}x\t{word[::-1]}\n" for word in words), encoding="utf-8")
    return (
        train(regard, data, directory / "one", "--seed", 1),
        train(regard, data, directory / "two", "--seed", 2),
        train(regard, other, directory / "other", "--set", "training.maximum_updates=1"),
    )


def test_a_run_with_itself_is_itself(regard, runs):
    again = runs[0].parent / "copy"
    shutil.copytree(runs[0], again)
    lines = b"aei\n\ndhl\nbfj\n"
    alone = regard("translate", "--model", runs[0], "--json", input=lines, check=True)
    both = regard(
        "translate", "--model", runs[0], "--model", again, "--json", input=lines, check=True
    )
    for one, two in zip(alone.stdout.splitlines(), both.stdout.splitlines(), strict=True):
        first, second = json.loads(one), json.loads(two)
        assert first["text"] == second["text"] and first["tokens"] == second["tokens"]
        assert first["score"] == pytest.approx(second["score"], abs=1e-4)


def test_a_token_has_the_mean_of_its_probabilities(regard, runs, tmp_path):
    """The first token, which nothing stands before: read off `score` of each run and of both."""
    data = tmp_path / "pairs.tsv"
    data.write_text("aei\tiea\nbfk\tkfb\n", encoding="utf-8")

    def first(*models: Path) -> list[float]:
        named = [part for model in models for part in ("--model", model)]
        done = regard("score", *named, "--data", data, "--json", check=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return [2.718281828459045 ** row["token_scores"][0] for row in rows]

    one, two, both = first(runs[0]), first(runs[1]), first(*runs[:2])
    assert one != two
    for a, b, mean in zip(one, two, both, strict=True):
        assert mean == pytest.approx((a + b) / 2, rel=1e-4)


def test_decoding_scoring_and_measuring_agree(regard, runs):
    model = package.load(*runs[:2])
    answers = model.translate(["aei", "dhl"], beam=3)
    scored = model.score([(w, a.tokens) for w, a in zip(["aei", "dhl"], answers, strict=True)])
    for answer, again in zip(answers, scored, strict=True):
        assert answer.score == pytest.approx(again.score, abs=1e-5)
        assert len(answer.attention) == len(answer.tokens)
    named = ("--model", runs[0], "--model", runs[1])
    data = runs[0].parent / "words.tsv"
    done = regard("evaluate", *named, "--data", data, "--json", check=True)
    assert json.loads(done.stdout)["sources"] == 64
    out = runs[0].parent / "picture.svg"
    regard("show", *named, "aei", "--out", out, check=True)
    assert out.stat().st_size > 500


def test_other_tokenizers_are_refused(regard, refused, runs):
    named = ("--model", runs[0], "--model", runs[2])
    refused(regard("translate", *named, input=b"aei\n"), "other has other tokenizers", "one")
