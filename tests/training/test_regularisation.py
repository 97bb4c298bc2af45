"""Every way of regularising at once: it learns, on several threads, and is resumed bit by bit."""

from pathlib import Path

import pytest
import torch

from regard.data.pairs import Pair, Pairs
from regard.training import shards
from regard.training.configuration import Configuration
from regard.training.interruption import TrainingInterrupted
from regard.training.metrics import read_metrics
from regard.training.problems import resolve
from regard.training.train import train

from .outcome import assert_same
from .test_resume import StopAt
from .tiny import reversals, tiny


def words(count: int, seed: int = 5) -> Pairs:
    """`abc` to `cba`."""
    pairs = [
        Pair(p.source.replace(" ", ""), p.target.replace(" ", "")) for p in reversals(count, seed)
    ]
    return Pairs(tuple(pairs), "words", 0)


def everything(kind: str, algorithm: str, **training: object) -> Configuration:
    """Sampled subwords, word dropout, R-Drop, an exponential average, own predictions."""
    side = {"kind": "subword", "size": 30, "algorithm": algorithm, "sampling": 0.3}
    forcing = {"share": 0.8}
    average = {"kind": "exponential"}
    settings = {"r_drop": 0.5, "average": average, "teacher_forcing": forcing, **training}
    data = tiny(kind, **settings).as_dict()
    data["tokenization"] = {"joint": True, "source": side, "target": side}
    data["model"]["embedding"]["word_dropout"] = {"source": 0.1, "target": 0.1}
    return resolve(data, "everything")


@pytest.mark.parametrize(
    ("kind", "algorithm", "threads"), [("recurrent", "bpe", 1), ("transformer", "unigram", 2)]
)
def test_resuming_changes_nothing(
    kind: str, algorithm: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "POSITIONS", 1)
    before = torch.get_num_threads()
    configuration = everything(kind, algorithm, maximum_updates=14, threads=threads)

    def run(name: str, stop: StopAt | None = None) -> None:
        out, pairs = tmp_path / name, words(60)
        train(configuration, pairs, words(8, 6), out, resume=True, progress=False, stop=stop)

    try:
        run("whole")
        for asked in (6, 5):
            with pytest.raises(TrainingInterrupted):
                run("parts", StopAt(asked))
        run("parts")
    finally:
        torch.set_num_threads(before)
    assert_same(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.slow
def test_a_model_learns_all_the_same(tmp_path: Path) -> None:
    settings = {"maximum_updates": 800, "validation_interval": 400, "label_smoothing": 0.0}
    data = everything("recurrent", "unigram", **settings).as_dict()
    for part in ("embedding", "encoder", "decoder"):
        data["model"][part]["size"] = 32
    train(resolve(data, "wider"), words(500), words(40, 6), tmp_path / "run", progress=False)
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    start = next(line for line in lines if line["kind"] == "start")
    last = [line for line in lines if line["kind"] == "validation"][-1]
    assert last["exact_match"] > start["baseline"] + 30, (last, start)
