"""The length penalty, the limits and the stopping bound, by hand."""

import math

import pytest
import torch

from regard.errors import UserError
from regard.search.configuration import SearchConfiguration
from regard.search.length import best_reachable, length_limits, normalize


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [(0.0, -6.0), (1.0, -1.5), (0.5, -3.0), (-0.5, -12.0), (-1.0, -24.0)],
)
def test_normalize_by_hand(penalty: float, expected: float) -> None:
    """-6 over 4 tokens."""
    value = normalize(torch.tensor([-6.0]), torch.tensor([4]), penalty)
    assert value.dtype == torch.float64
    assert value.item() == pytest.approx(expected)


def test_normalize_nothing() -> None:
    assert normalize(torch.zeros(1), torch.zeros(1, dtype=torch.long), 1.0).item() == 0.0


def limits(lengths: list[int], own: int | None = None, **settings: float) -> list[int]:
    configuration = SearchConfiguration(**settings)
    return length_limits(torch.tensor(lengths), configuration, own).tolist()


def test_limits() -> None:
    assert limits([1, 10, 600]) == [22, 40, 1220]
    assert limits([3, 5], maximum_length_ratio=0.5, maximum_length_extra=0) == [1, 2]
    assert limits([1], maximum_length_ratio=0.0, maximum_length_extra=0) == [1]
    assert limits([1], minimum_length=30) == [31]
    assert limits([1, 10, 600], 35) == [22, 35, 35]
    assert limits([1, 600], 35, minimum_length=34) == [35, 35]
    with pytest.raises(UserError, match=r"search\.minimum_length is 35.* at most 35 tokens"):
        limits([1], 35, minimum_length=35)


@pytest.mark.parametrize("penalty", [-2.0, -0.5, 0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("minimum", [0, 6])
def test_bound_is_the_best_of_all_futures(penalty: float, minimum: int) -> None:
    """The maximum over every length still possible of the present score: reached, not passed."""
    configuration = SearchConfiguration(length_penalty=penalty, minimum_length=minimum)
    score, step, limit = -3.7, 4, 11
    bound = best_reachable(
        torch.tensor([score], dtype=torch.float64), step, torch.tensor([limit]), configuration
    )
    possible = [n for n in range(step + 1, limit + 1) if n > minimum]
    assert bound.item() == pytest.approx(max(score / n**penalty for n in possible))


@pytest.mark.parametrize("penalty", [-1.0, 0.0, 1.0])
def test_bound_of_none_is_minus_infinity(penalty: float) -> None:
    configuration = SearchConfiguration(length_penalty=penalty)
    bound = best_reachable(torch.tensor([-math.inf]), 3, torch.tensor([9]), configuration)
    assert bound.item() == -math.inf
