"""A12: the gradient of hard attention, estimated from draws, is that of the exact expectation.

Xu et al. 2015, section 4.1. A tiny problem whose every outcome can be counted: one query over four
positions, log p(y | l) a function of the drawn context alone. Its expectation is differentiated in
plain Python, by differences over all outcomes; the estimate is a mean over independent draws, each
with gradients of its own, so that its standard error is known.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import Attention

from . import selection as reference
from .attention_layer import random

SAMPLES, POSITIONS, SIZE = 20000, 4, 4
FAR = 4.5  # standard errors; exceeded by chance about once in 150,000 numbers
QUERY = random(SIZE).tolist()
KEYS = random(POSITIONS, SIZE, seed=6).tolist()
VALUES = random(POSITIONS, SIZE, seed=7).tolist()
OUTPUT = random(SIZE, seed=8)


def log_likelihood(context: Tensor) -> Tensor:
    """log p(y | l), of every row: the log-probability of a word that the context speaks for."""
    return torch.nn.functional.logsigmoid(context @ OUTPUT - 2.0)


def plain_log_likelihood(context: list[float]) -> float:
    """The same in plain Python."""
    z = sum(c * float(w) for c, w in zip(context, OUTPUT, strict=True)) - 2.0
    return -math.log1p(math.exp(-z))


def head_weights(query: list[float], keys: list[list[float]], heads: int) -> list[list[float]]:
    """alpha of each head: softmax of q . k over its own numbers."""
    size = SIZE // heads
    found = []
    for h in range(heads):
        some = range(h * size, (h + 1) * size)
        found.append(reference.softmax([sum(query[n] * key[n] for n in some) for key in keys]))
    return found


def expectation(
    query: list[float], keys: list[list[float]], values: list[list[float]], heads: int
) -> float:
    """sum_l p(l) log p(y | l) over all outcomes l, a position for each head."""
    weights, size, total = head_weights(query, keys, heads), SIZE // heads, 0.0
    for drawn in product(range(POSITIONS), repeat=heads):
        probability = math.prod(weights[h][drawn[h]] for h in range(heads))
        context = [values[drawn[n // size]][n] for n in range(SIZE)]
        total += probability * plain_log_likelihood(context)
    return total


def exact(objective: Callable[..., float]) -> list[Tensor]:
    """Its gradients to query, keys and values, by differences."""

    def folded(numbers: list[float]) -> list[list[float]]:
        return [numbers[n : n + SIZE] for n in range(0, len(numbers), SIZE)]

    keys, values = list(chain(*KEYS)), list(chain(*VALUES))
    slopes = [
        reference.slope(lambda q: objective(q, KEYS, VALUES), QUERY),
        reference.slope(lambda k: objective(QUERY, folded(k), VALUES), keys),
        reference.slope(lambda v: objective(QUERY, KEYS, folded(v)), values),
    ]
    return [torch.tensor(slope).double() for slope in slopes]


@dataclass(frozen=True)
class Estimate:
    """Means over draws and their standard errors: of the gradients to query, keys, values."""

    means: list[Tensor]
    errors: list[Tensor]

    def distance(self, expected: list[Tensor], kinds: tuple[int, ...] = (0, 1, 2)) -> float:
        """The greatest, in standard errors."""
        far = 0.0
        for kind in kinds:
            off = (self.means[kind] - expected[kind]).abs()
            # A number that every draw agrees on has an error of rounding and of differences only.
            far = max(far, float((off / (self.errors[kind] + 1e-9)).max()))
        return far


def estimate(
    heads: int,
    surrogate: Callable[[Tensor, Tensor, Tensor], Tensor],
    *,
    seed: int = 11,
) -> Estimate:
    """The mean gradient of `surrogate(log p(y | l), log p(l), H)` over draws.

    Every draw is an example of the batch with a query, keys and values of its own: its gradients.
    """
    attention = Attention(SIZE, score="dot", heads=heads, project=False, select="hard").double()
    leaves: list[Any] = []
    for numbers in ([QUERY], KEYS, VALUES):
        one = torch.tensor(numbers).double()
        leaves.append(one.expand(SAMPLES, *one.shape).clone().requires_grad_())
    sampled = attention.sample(*leaves, generator=torch.Generator().manual_seed(seed))
    likelihood = log_likelihood(sampled.context[:, 0])
    log_probability = sampled.log_probability.sum((1, 2))
    surrogate(likelihood, log_probability, sampled.entropy.sum((1, 2))).sum().backward()
    given = [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves]
    gradients = [gradient.flatten(1) for gradient in given]
    means = [gradient.mean(0) for gradient in gradients]
    errors = [gradient.std(0) / math.sqrt(SAMPLES) for gradient in gradients]
    return Estimate(means, errors)


def reinforce(baseline: float | Tensor, share: float = 1.0) -> Callable[..., Tensor]:
    """grad log p(y | l) + lambda_r (log p(y | l) - b) grad log p(l)."""
    return lambda likelihood, log_p, _: (
        likelihood + share * (likelihood.detach() - baseline) * log_p
    )


def moving_baseline(likelihood: Tensor) -> Tensor:
    """b <- 0.9 b + 0.1 log p(y | l), batch after batch of 100 draws; each uses those before it."""
    b, rows = 0.0, []
    for batch in likelihood.detach().split(100):
        rows.append(torch.full_like(batch, b))
        b = 0.9 * b + 0.1 * float(batch.mean())
    return torch.cat(rows)


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("baseline", ["none", "constant", "moving"])
def test_estimate_agrees_with_enumeration(heads: int, baseline: str) -> None:
    """Whatever the baseline, as long as it does not know the draw."""
    expected = exact(lambda q, k, v: expectation(q, k, v, heads))

    def surrogate(likelihood: Tensor, log_p: Tensor, entropy: Tensor) -> Tensor:
        b = {"none": 0.0, "constant": -2.0}.get(baseline)
        return reinforce(moving_baseline(likelihood) if b is None else b)(
            likelihood, log_p, entropy
        )

    assert estimate(heads, surrogate).distance(expected) < FAR


def test_wrong_score_functions_are_far_off() -> None:
    """A score function of the wrong sign, half or twice as large, or none at all, is far off."""
    expected = exact(lambda q, k, v: expectation(q, k, v, 1))
    center = expectation(QUERY, KEYS, VALUES, 1)
    for share in (-1.0, 0.0, 0.5, 2.0):
        wrong = estimate(1, reinforce(center, share))
        assert wrong.distance(expected, (0,)) > 3 * FAR
        assert wrong.distance(expected, (1,)) > 3 * FAR
        assert wrong.distance(expected, (2,)) < FAR  # values need no score function
    knows = estimate(1, lambda r, log_p, _: r + (r.detach() - log_p.detach()) * log_p)
    assert knows.distance(expected, (0, 1)) > FAR  # a baseline that knows the draw


def test_baseline_lowers_the_variance() -> None:
    center = expectation(QUERY, KEYS, VALUES, 1)
    without, with_one = estimate(1, reinforce(0.0)), estimate(1, reinforce(center))
    for kind in (0, 1):
        assert (with_one.errors[kind].norm() < 0.8 * without.errors[kind].norm()).item()


@pytest.mark.parametrize("heads", [1, 2])
def test_entropy_term(heads: int) -> None:
    """lambda_e grad H[l]: the same in every draw, and that of H = - sum_j alpha_j log alpha_j."""
    found = estimate(heads, lambda likelihood, log_p, entropy: 0.002 * entropy)

    def objective(q: list[float], k: list[list[float]], v: list[list[float]]) -> float:
        return 0.002 * sum(reference.entropy(alpha) for alpha in head_weights(q, k, heads))

    for mean, error, expected in zip(found.means, found.errors, exact(objective), strict=True):
        assert (mean - expected).abs().max() < 1e-10
        assert error.max() < 1e-15
    assert found.means[0].abs().max() > 1e-5 and (found.means[2] == 0).all()


def test_the_score_function_has_mean_zero() -> None:
    """E[grad log p(l)] = 0: why a baseline changes no expectation."""
    found = estimate(1, lambda likelihood, log_p, entropy: log_p)
    zero = [torch.zeros_like(mean) for mean in found.means]
    assert found.distance(zero) < FAR
    assert found.errors[0].max() > 1e-4
