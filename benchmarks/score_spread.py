"""What the size of queries and keys does to dot products, their softmax and its gradient."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import dot_scores, masked_log_softmax, masked_softmax

_CHUNK = 1 << 22  # elements of the keys that are drawn at a time


@dataclass(frozen=True)
class Spread:
    """Means over all drawn queries.

    deviation: standard deviation of the scores.
    entropy: of the weights, in nats; ln(positions) where they are even.
    largest: the largest weight.
    gradient: norm of the gradient that reaches a query's scores when a unit normal one arrives at
        each of its weights.
    """

    size: int
    scaled: bool
    deviation: float
    entropy: float
    largest: float
    gradient: float


def measure_spread(size: int, scaled: bool, queries: int, positions: int, seed: int) -> Spread:
    """Unit normal queries, each with ``positions`` unit normal keys of its own, in float32."""
    generator = torch.Generator().manual_seed(seed)
    scale = size**-0.5 if scaled else 1.0
    rows = max(1, _CHUNK // (positions * size))
    parts = []
    for start in range(0, queries, rows):
        count = min(rows, queries - start)
        query = torch.randn(count, 1, 1, size, generator=generator)
        key = torch.randn(count, 1, positions, size, generator=generator)
        arriving = torch.randn(count, 1, 1, positions, generator=generator)
        parts.append(_figures(dot_scores(query, key, scale), arriving))
    squares, entropy, largest, gradient = torch.cat(parts, dim=1).double().mean(1).tolist()
    return Spread(size, scaled, squares**0.5, entropy, largest, gradient)


def even_gradient(positions: int, queries: int, seed: int) -> float:
    """The same norm where all scores are equal: as far from saturated as can be."""
    arriving = torch.randn(queries, 1, 1, positions, generator=torch.Generator().manual_seed(seed))
    return _figures(torch.zeros_like(arriving), arriving)[3].mean().item()


def _figures(
    scores: Float[Tensor, "count 1 1 positions"], arriving: Float[Tensor, "count 1 1 positions"]
) -> Float[Tensor, "4 count"]:
    """Of every query: mean square of its scores, entropy, largest weight, norm of the gradient."""
    scores = scores.requires_grad_()
    weights = masked_softmax(scores)
    (gradient,) = torch.autograd.grad(weights, scores, arriving)
    logarithms = masked_log_softmax(scores.detach())
    weights = weights.detach()
    figures = (
        scores.detach().square().mean(-1),
        -(weights * logarithms).sum(-1),
        weights.amax(-1),
        gradient.norm(dim=-1),
    )
    return torch.stack([figure.flatten() for figure in figures])
