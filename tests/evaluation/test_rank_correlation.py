"""Kendall's tau-b: by hand, against all pairs counted one by one, and at its ends."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest

import regard.evaluation.rank_correlation as ranking
from regard.evaluation.rank_correlation import kendall_tau_b


def counted(one: list[float], other: list[float]) -> float:
    """tau-b from the numbers of concordant and discordant pairs, and of ties (Kendall 1945)."""
    concordant = discordant = ties_one = ties_other = 0
    pairs = list(combinations(range(len(one)), 2))
    for i, j in pairs:
        first, second = one[i] - one[j], other[i] - other[j]
        concordant += first * second > 0
        discordant += first * second < 0
        ties_one += first == 0
        ties_other += second == 0
    untied = (len(pairs) - ties_one) * (len(pairs) - ties_other)
    return (concordant - discordant) / sqrt(untied) if untied else 0.0


def test_by_hand():
    """Of the six pairs five agree and one does not; then one of the six is tied on one side."""
    tau = kendall_tau_b([[1, 2, 3, 4], [1, 2, 3, 3]], [[1, 2, 4, 3], [1, 2, 3, 4]])
    assert tau.tolist() == pytest.approx([4 / 6, 5 / sqrt(5 * 6)])


def test_every_pair_counts(monkeypatch):
    generator = np.random.default_rng(5)
    one, other = generator.integers(0, 4, (2, 40, 6))
    expected = [counted(*rows) for rows in zip(one.tolist(), other.tolist(), strict=True)]
    np.testing.assert_allclose(kendall_tau_b(one, other), expected, atol=1e-12)
    monkeypatch.setattr(ranking, "_MOST_PAIRS", 40)
    np.testing.assert_allclose(kendall_tau_b(one, other), expected, atol=1e-12)


def test_its_ends():
    values = np.random.default_rng(1).normal(size=(3, 7))
    assert kendall_tau_b(values, np.exp(values)).tolist() == [1, 1, 1]
    assert kendall_tau_b(values, -values).tolist() == [-1, -1, -1]
    assert kendall_tau_b(values, np.ones((3, 7))).tolist() == [0, 0, 0]
    assert kendall_tau_b(np.ones((2, 1)), np.ones((2, 1))).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("one", "other"), [([1, 2], [1, 2]), ([[1, 2]], [[1, 2, 3]]), ([[1, np.nan]], [[1, 2]])]
)
def test_what_cannot_be_ranked(one, other):
    with pytest.raises(ValueError):
        kendall_tau_b(one, other)
