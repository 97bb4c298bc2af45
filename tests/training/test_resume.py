"""Stopping and going on: the same weights, bit by bit, whatever the moment."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regard.data.pairs import Pair, Pairs
from regard.errors import UserError
from regard.training import budget, ending, session
from regard.training.configuration import Configuration
from regard.training.interruption import TrainingInterrupted
from regard.training.metrics import read_metrics
from regard.training.problems import resolve
from regard.training.run import load_run
from regard.training.train import train

from .outcome import assert_same, outcome
from .tiny import Clock, reversals, tiny

TRAIN, VALID = reversals(60), reversals(8, seed=6)


class StopAt:
    """A `stop` that gives a signal when it is asked for the n-th time, and from then on."""

    def __init__(self, asked: int, signal: int = 2) -> None:
        self.left, self.signal = asked, signal

    def __call__(self) -> int | None:
        self.left -= 1
        return self.signal if self.left < 0 else None


def run(out: Path, configuration: Configuration | None = None, **options: Any) -> Any:
    options = {"progress": False, "resume": True, **options}
    return train(configuration or tiny(), TRAIN, VALID, out, **options)


def stopped(out: Path, asked: int, configuration: Configuration | None = None) -> int:
    """Stop a run; after how many updates it stopped."""
    with pytest.raises(TrainingInterrupted) as caught:
        run(out, configuration, stop=StopAt(asked))
    return caught.value.step


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never stopped: 25 updates, validated after 10, 20 and 25."""
    out = tmp_path_factory.mktemp("whole") / "transformer"
    run(out, tiny("transformer"), resume=False)
    return out


def test_resuming_a_recurrent_model(tmp_path: Path) -> None:
    run(tmp_path / "whole", tiny("recurrent"))
    for asked in (7, 9):
        stopped(tmp_path / "run", asked, tiny("recurrent"))
    run(tmp_path / "run", tiny("recurrent"))
    assert_same(tmp_path / "whole", tmp_path / "run")


def test_resuming_after_several_stops(whole: Path, tmp_path: Path) -> None:
    out, configuration = tmp_path / "run", tiny(whole.name)
    steps = [stopped(out, asked, configuration) for asked in (0, 7, 1, 9, 3)]
    assert steps[0] == 0 and steps == sorted(steps) and 10 < steps[-1] < 25
    run(out, configuration)
    assert_same(whole, out)
    resumes = [line["step"] for line in read_metrics(out / "metrics.jsonl")]
    assert resumes == sorted(resumes)


@pytest.mark.parametrize("asked", [0, 1])
def test_a_stop_during_a_validation(
    asked: int, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given up, and done again after the resume."""
    out, configuration, stop = tmp_path / "run", tiny(whole.name), StopAt(10**9)

    def validate(*arguments: Any) -> Any:
        stop.left = asked  # from the first, or from the second portion of the sources on
        return real(*arguments)

    real = session.validate
    monkeypatch.setattr(session, "validate", validate)
    with pytest.raises(TrainingInterrupted) as caught:
        run(out, configuration, stop=stop)
    assert caught.value.step == 10
    assert [line["kind"] for line in read_metrics(out / "metrics.jsonl")] == ["start"]
    monkeypatch.setattr(session, "validate", real)
    run(out, configuration)
    assert_same(whole, out)


@pytest.mark.parametrize("which", ["validate_candidate", "validate_session"])
def test_a_stop_while_the_run_ends(
    which: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """During the last validation, or that of the average: the weights are not the average's."""
    out, configuration, stop = tmp_path / "run", tiny(whole.name), StopAt(10**9)

    def stopping(*arguments: Any) -> Any:
        stop.left = 0
        return real(*arguments)

    real = getattr(ending, which)
    monkeypatch.setattr(ending, which, stopping)
    with pytest.raises(TrainingInterrupted) as caught:
        run(out, configuration, stop=stop)
    assert caught.value.step == 25
    monkeypatch.setattr(ending, which, real)
    run(out, configuration)
    assert_same(whole, out)


def test_more_updates_than_were_asked_for_at_first(whole: Path, tmp_path: Path) -> None:
    """The end of a run, its last validation and its average leave no trace in what comes after."""
    out = tmp_path / "run"
    run(out, tiny(whole.name, maximum_updates=6))
    run(out, tiny(whole.name, maximum_updates=17))
    result = run(out, tiny(whole.name))
    assert result.step == 25
    assert_same(whole, out)
    assert load_run(out).configuration.training.maximum_updates == 25


def test_minutes_go_on_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "time", Clock())
    out = tmp_path / "run"
    configuration = tiny(maximum_updates=0, validation_interval=10**6)
    first = run(out, configuration, minutes=1 / 60)
    second = run(out, configuration, minutes=2 / 60)
    assert second.step > first.step > 0
    assert 0.9 < first.elapsed_seconds < 1.1 and 1.8 < second.elapsed_seconds < 2.1
    third = run(out, configuration, minutes=2 / 60)  # nothing is left
    assert third.step == second.step and third.reason == "minutes"


def test_how_long_a_validation_takes_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the minutes is kept for it: over after 1.2 of 2 seconds, not only after 1.8."""

    def validate(*arguments: Any) -> Any:
        return replace(real(*arguments), seconds=1e6)

    real = session.validate
    monkeypatch.setattr(budget, "time", Clock())
    monkeypatch.setattr(session, "validate", validate)
    out, configuration = tmp_path / "run", tiny(maximum_updates=30, validation_interval=10)
    first = run(out, configuration, minutes=10)
    assert 1 < first.elapsed_seconds < 1.8
    later = tiny(maximum_updates=100, validation_interval=10)
    assert run(out, later, minutes=2 / 60).step == 30


def test_resuming_a_finished_run_changes_nothing(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(out, tiny(whole.name))
    before = outcome(out)
    assert run(out, tiny(whole.name)).step == 25
    assert outcome(out).files == before.files
    assert_same(whole, out)


def test_subword_sampling_is_resumed_too(tmp_path: Path) -> None:
    """Each epoch draws other segmentations, the same ones whether or not it was stopped amid."""
    side = {"kind": "subword", "size": 30, "sampling": 0.3}
    data = tiny(maximum_updates=15).as_dict()
    data["tokenization"] = {"joint": True, "source": side, "target": side}
    configuration = resolve(data, "sampled")
    words = [Pair(pair.source.replace(" ", ""), pair.target.replace(" ", "")) for pair in TRAIN]
    pairs = Pairs(tuple(words), "words", 0)

    def start(out: Path, **options: Any) -> None:
        train(configuration, pairs, VALID, out, progress=False, resume=True, **options)

    start(tmp_path / "whole")
    for asked in (7, 6):
        with pytest.raises(TrainingInterrupted):
            start(tmp_path / "run", stop=StopAt(asked))
    start(tmp_path / "run")
    assert_same(tmp_path / "whole", tmp_path / "run")


def test_what_others_draw_meanwhile_is_no_matter(whole: Path, tmp_path: Path) -> None:
    """Between two sessions, the process's random states move on."""
    out, configuration = tmp_path / "run", tiny(whole.name)
    stopped(out, 11, configuration)
    random.seed(99)
    random.random()
    run(out, configuration)
    assert_same(whole, out)


def test_exit_codes() -> None:
    assert TrainingInterrupted(2, 5, Path("run")).exit_code == 130
    assert TrainingInterrupted(15, 5, Path("run")).exit_code == 143
    assert "--resume" in str(TrainingInterrupted(2, 5, Path("run")))


def refused(out: Path, configuration: Configuration, said: str, **options: Any) -> None:
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(UserError) as caught:
        run(out, configuration, **options)
    assert said in str(caught.value)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_what_is_refused_and_then_left_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "run"
    stopped(out, 9)
    refused(out, tiny(), "already exists; add --resume", resume=False)
    refused(out, tiny(seed=2), "training.seed was 1 and is 2")
    refused(out, tiny(threads=2), "training.threads was 1 and is 2")
    for name, pairs in (
        ("training", (reversals(61), VALID)),
        ("validation", (TRAIN, reversals(9, seed=6))),
    ):
        with pytest.raises(UserError, match=f"the {name} pairs are not those"):
            train(tiny(), *pairs, out, progress=False, resume=True)
    checkpoint = out / "checkpoints" / "step-00000009.safetensors"
    whole = checkpoint.read_bytes()
    checkpoint.write_bytes(whole[:-1])
    refused(out, tiny(), "step-00000009.safetensors is damaged")
    checkpoint.write_bytes(whole)
    metrics = out / "metrics.jsonl"
    lines = metrics.read_bytes()
    metrics.write_bytes(b"")
    refused(out, tiny(), "metrics.jsonl is damaged")
    metrics.write_bytes(lines)
    run(out)
