"""Selections of positions by their definitions, in plain Python: bisection and enumeration."""

import math
from collections.abc import Callable, Sequence


def sparsemax(scores: Sequence[float]) -> list[float]:
    """argmin over the simplex of |p - z|^2: Martins and Astudillo 2016, eq. 1.

    By its proposition 1, p_j = max(0, z_j - tau) with the tau that makes them sum to 1.
    """
    return _threshold(scores, lambda z, tau: max(0.0, z - tau))


def entmax(scores: Sequence[float]) -> list[float]:
    """p_j = max(0, (alpha - 1) z_j - tau)^(1 / (alpha - 1)), alpha = 1.5: Peters et al. 2019."""
    return _threshold(scores, lambda z, tau: max(0.0, 0.5 * z - tau) ** 2)


def softmax(scores: Sequence[float]) -> list[float]:
    """exp(z_j) / sum_k exp(z_k)."""
    greatest = max(scores)
    exponentials = [math.exp(z - greatest) for z in scores]
    return [x / sum(exponentials) for x in exponentials]


def tsallis(p: Sequence[float], alpha: float) -> float:
    """H_alpha(p) = sum_j (p_j - p_j^alpha) / (alpha (alpha - 1)): Peters et al. 2019."""
    return sum(x - x**alpha for x in p) / (alpha * (alpha - 1))


def entropy(p: Sequence[float]) -> float:
    """H(p) = - sum_j p_j log p_j, 0 log 0 = 0."""
    return -sum(x * math.log(x) for x in p if x > 0)


def expectation(p: Sequence[float], reward: Sequence[float]) -> float:
    """E[R] = sum_j p_j R_j."""
    return sum(x * r for x, r in zip(p, reward, strict=True))


def slope(
    function: Callable[[list[float]], float], at: Sequence[float], step: float = 1e-5
) -> list[float]:
    """Central differences in every coordinate."""
    slopes = []
    for n in range(len(at)):
        ends = []
        for sign in (1.0, -1.0):
            moved = list(at)
            moved[n] += sign * step
            ends.append(function(moved))
        slopes.append((ends[0] - ends[1]) / (2 * step))
    return slopes


def _threshold(scores: Sequence[float], weight: Callable[[float, float], float]) -> list[float]:
    """The weights of the tau at which they sum to 1; their sum falls with tau."""
    low, high = min(scores) - 2.0, max(scores)  # a weight of 1 and more; weights of 0
    low, high = min(low, low / 2 - 2.0), max(high, high / 2)
    for _ in range(200):
        tau = (low + high) / 2
        if sum(weight(z, tau) for z in scores) > 1.0:
            low = tau
        else:
            high = tau
    return [weight(z, (low + high) / 2) for z in scores]
