"""Projections of scores onto the simplex that leave most weights at exactly 0."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

LOWEST = -2.0  # tau is never below -1: from here on down everything is the same, and clearly out


def sparsemax(scores: Float[Tensor, "*batch positions"]) -> Float[Tensor, "*batch positions"]:
    """``max(0, scores - tau)`` with the tau that makes them sum to 1.

    Martins and Astudillo 2016, algorithm 1. The greatest score of a row is to be 0: what is 1 or
    more below it has no weight, and so does not matter.
    """
    scores = scores.clamp(min=LOWEST)
    ordered, count = _ordered(scores)
    excess = ordered.cumsum(-1) - 1.0
    last = _last(count * ordered > excess)
    return torch.relu(scores - excess.gather(-1, last) / (last + 1))


def entmax15(scores: Float[Tensor, "*batch positions"]) -> Float[Tensor, "*batch positions"]:
    """``max(0, scores / 2 - tau)^2`` with the tau that makes them sum to 1.

    Peters et al. 2019, algorithm 2: entmax of alpha 1.5. The greatest score of a row is to be 0:
    what is 2 or more below it has no weight, and so does not matter.
    """
    scores = (0.5 * scores).clamp(min=LOWEST)
    ordered, count = _ordered(scores)
    mean = ordered.cumsum(-1) / count
    spread = ordered.square().cumsum(-1) / count - mean.square()
    square = 1.0 / count - spread  # of how far tau lies below the mean, were these all
    last = _last(mean - square.clamp(min=0.0).sqrt() <= ordered)
    smallest = torch.finfo(scores.dtype).tiny  # a root of 0 would have no slope
    root = square.gather(-1, last).clamp(min=smallest).sqrt()
    return torch.relu(scores - mean.gather(-1, last) + root).square()


def _ordered(scores: Tensor) -> tuple[Tensor, Tensor]:
    """The scores of each row, greatest first, and 1, 2, 3, ..."""
    count = torch.arange(1, scores.shape[-1] + 1, dtype=scores.dtype, device=scores.device)
    return scores.sort(dim=-1, descending=True).values, count


def _last(kept: Tensor) -> Tensor:
    """Index of the smallest score that keeps a weight (0 in a row that is not a number)."""
    return (kept.sum(-1, keepdim=True) - 1).clamp(min=0)
