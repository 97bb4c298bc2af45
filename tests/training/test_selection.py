"""Which weights are the best, and which are averaged."""

from pathlib import Path

import pytest
import torch

from regard.errors import UserError
from regard.training.averaging import average_weights
from regard.training.configuration import AverageConfiguration, TrainingConfiguration
from regard.training.selection import consider, is_better
from regard.training.state import Candidate, TrainingState, parse_state
from regard.training.tensors import encode_tensors


def after(scores: list[float], **settings: object) -> TrainingState:
    configuration = TrainingConfiguration(**settings)
    state = TrainingState()
    for step, score in enumerate(scores, start=1):
        consider(state, Candidate(step, score), configuration)
    return state


def steps(state: TrainingState) -> list[int]:
    return [candidate.step for candidate in state.candidates]


def test_the_first_of_equal_ones_is_the_best_and_the_rest_count_as_worse() -> None:
    state = after([10.0, 30.0, 30.0, 20.0])
    assert state.best == Candidate(2, 30.0) and state.worse == 2


def test_lower_error_rates_are_better() -> None:
    state = after([90.0, 20.0, 30.0], metric="word_error_rate")
    assert state.best == Candidate(2, 20.0) and state.worse == 1
    assert is_better(1, 2, "symbol_error_rate") and not is_better(1, 2, "chrf")
    assert not is_better(2, 2, "bleu")


@pytest.mark.parametrize(
    ("kind", "count", "metric", "expected"),
    [
        ("best", 2, "bleu", [2, 4]),
        ("best", 3, "bleu", [2, 4, 5]),  # of equal ones the later
        ("best", 2, "word_error_rate", [1, 5]),
        ("last", 2, "bleu", [4, 5]),
        ("none", 2, "bleu", []),
        ("exponential", 2, "bleu", []),
        ("best", 9, "bleu", [1, 2, 3, 4, 5]),
    ],
)
def test_candidates(kind: str, count: int, metric: str, expected: list[int]) -> None:
    average = AverageConfiguration(kind=kind, count=count)
    assert steps(after([1, 5, 2, 5, 2], average=average, metric=metric)) == expected


def test_weights_validated_again_are_one_candidate() -> None:
    state = after([1.0, 2.0])
    consider(state, Candidate(2, 2.0), TrainingConfiguration())
    assert steps(state) == [1, 2]


def test_a_state_comes_back_from_json() -> None:
    import json

    state = after([0.1, 1 / 3])
    state.window.loss = 0.1 + 0.2
    assert parse_state(json.loads(json.dumps(state.as_dict()))) == state


def save(path: Path, **tensors: torch.Tensor) -> Path:
    path.write_bytes(encode_tensors(tensors, {}))
    return path


def test_the_average_is_the_mean(tmp_path: Path) -> None:
    paths = [
        save(tmp_path / f"{n}", w=torch.tensor([1.0, n]), n=torch.tensor([n])) for n in range(4)
    ]
    averaged = average_weights(paths)
    assert torch.equal(averaged["w"], torch.tensor([1.0, 1.5]))
    assert averaged["w"].dtype == torch.float32 and averaged["n"].tolist() == [3]


def test_the_average_is_summed_exactly(tmp_path: Path) -> None:
    """In float32, 1e8 + 1 - 1e8 is 0."""
    paths = [
        save(tmp_path / f"{n}", w=torch.tensor([value])) for n, value in enumerate([1e8, 1, -1e8])
    ]
    assert average_weights(paths)["w"].item() == pytest.approx(1 / 3)


def test_weights_of_different_models_are_not_averaged(tmp_path: Path) -> None:
    one = save(tmp_path / "one", w=torch.ones(2))
    for name, tensors in {"shape": {"w": torch.ones(3)}, "name": {"v": torch.ones(2)}}.items():
        with pytest.raises(UserError, match=name):
            average_weights([one, save(tmp_path / name, **tensors)])
