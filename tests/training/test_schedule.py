"""Learning rates, by hand."""

import pytest

from regard.training.configuration import TrainingConfiguration
from regard.training.schedule import learning_rate


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
