"""Learning rates, by hand."""

import json
from pathlib import Path

import pytest

from regard.data.pairs import Pair, Pairs
from regard.training import loop
from regard.training.configuration import TrainingConfiguration
from regard.training.recipes import load_recipe
from regard.training.schedule import learning_rate
from regard.training.train import train


def rates(steps: list[int], **settings: object) -> list[float]:
    configuration = TrainingConfiguration(learning_rate=0.4, warmup=4, **settings)
    return [learning_rate(step, configuration) for step in steps]


def test_warm_up_rises_by_equal_steps_for_every_schedule() -> None:
    for schedule in ("constant", "inverse_square_root", "linear"):
        assert rates([1, 2, 3, 4], schedule=schedule) == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_inverse_square_root() -> None:
    assert rates([4, 16, 64, 400], schedule="inverse_square_root") == pytest.approx(
        [0.4, 0.2, 0.1, 0.04]
    )


def test_constant() -> None:
    assert rates([4, 5, 10_000], schedule="constant") == pytest.approx([0.4, 0.4, 0.4])


def test_linear_falls_to_nothing_at_the_last_update() -> None:
    assert rates([4, 9, 12, 14, 20], schedule="linear", maximum_updates=14) == pytest.approx(
        [0.4, 0.2, 0.08, 0.0, 0.0]
    )


def test_without_warm_up() -> None:
    for schedule, expected in (("constant", 0.4), ("inverse_square_root", 0.2)):
        settings = TrainingConfiguration(learning_rate=0.4, warmup=0, schedule=schedule)
        assert learning_rate(1, settings) == pytest.approx(0.4)
        assert learning_rate(4, settings) == pytest.approx(expected)


def test_the_cooldown_is_a_straight_line_over_the_last_share() -> None:
    settings = TrainingConfiguration(
        learning_rate=0.4, warmup=4, schedule="constant", cooldown=0.25
    )
    done = [0.0, 0.7, 0.75, 0.8, 0.875, 1.0]
    rates = [learning_rate(9, settings, share) for share in done]
    assert rates == pytest.approx([0.4, 0.4, 0.4, 0.32, 0.2, 0.0])
    assert learning_rate(2, settings, 0.875) == pytest.approx(0.1)  # still warming up


def test_without_a_cooldown_the_end_changes_nothing() -> None:
    settings = TrainingConfiguration(learning_rate=0.4, warmup=0, schedule="constant")
    assert learning_rate(9, settings, 1.0) == pytest.approx(0.4)


def test_noam_is_the_papers() -> None:
    """d^-0.5 min(step^-0.5, step * warmup^-1.5): 6.99e-4 at its peak, 1.75e-7 at the first step."""
    settings = TrainingConfiguration(learning_rate=1.0, warmup=4000, schedule="noam")
    for step in (1, 100, 4000, 4001, 100_000):
        expected = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert learning_rate(step, settings, size=512) == pytest.approx(expected)
    assert learning_rate(4000, settings, size=512) == pytest.approx(6.99e-4, rel=1e-3)
    assert learning_rate(1, settings, size=512) == pytest.approx(1.75e-7, rel=2e-3)
    twice = settings.model_copy(update={"learning_rate": 2.0})
    assert learning_rate(7, twice, size=512) == pytest.approx(2 * 7 * 4000**-1.5 / 512**0.5)
    without = TrainingConfiguration(learning_rate=1.0, warmup=0, schedule="noam")
    assert learning_rate(4, without, size=16) == pytest.approx(1 / 8)


def test_training_takes_the_size_of_the_embeddings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "LOG_INTERVAL", 1)
    for size in (8, 32):
        _train(size, tmp_path / str(size))
        lines = (tmp_path / str(size) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        logged = [json.loads(line) for line in lines]
        (rate,) = (line["learning_rate"] for line in logged if line["kind"] == "training")
        assert rate == pytest.approx(2.0 * 10**-1.5 / size**0.5)


def _train(size: int, directory: Path) -> None:
    settings = [
        f"model.embedding.size={size}",
        "model.encoder={kind: transformer, layers: 1, heads: 1, feed_forward_size: 4}",
        "model.decoder={kind: transformer, layers: 1, heads: 1, feed_forward_size: 4}",
        "tokenization={joint: true, source: {kind: character}, target: {kind: character}}",
        "training={schedule: noam, learning_rate: 2.0, warmup: 10, maximum_updates: 1, threads: 1}",
    ]
    pairs = Pairs((Pair("ab", "ba"), Pair("ba", "ab")), "test")
    train(load_recipe("transformer-tiny", settings), pairs, pairs, directory, progress=False)
