"""The two pure functions under every attention: masked softmax and weighted sum."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def masked_softmax(
    scores: Float[Tensor, "*batch positions"],
    mask: Bool[Tensor, "*batch positions"] | None = None,
) -> Float[Tensor, "*batch positions"]:
    """Softmax over the last dimension, over the positions where ``mask`` is True.

    Computed in at least float32 and returned in the type of ``scores``. A row with nothing to
    attend to gets weights of exactly 0, and a gradient of exactly 0.

    Args:
        scores: any real numbers; what stands at hidden positions does not matter, NaN included.
        mask: True = may be attended; broadcasts to the shape of ``scores``.
    """
    precise = torch.promote_types(scores.dtype, torch.float32)
    if mask is None:
        return torch.softmax(scores, dim=-1, dtype=precise).to(scores.dtype)
    # A row without one visible position would be 0/0: give it finite scores, then zero weights.
    fill = torch.where(mask.any(dim=-1, keepdim=True), float("-inf"), 0.0).to(precise)
    weights = torch.softmax(torch.where(mask, scores.to(precise), fill), dim=-1)
    return torch.where(mask, weights, 0.0).to(scores.dtype)


def weighted_sum(
    weights: Float[Tensor, "*batch queries positions"],
    value: Float[Tensor, "*batch positions size"],
) -> Float[Tensor, "*batch queries size"]:
    """Context ``c_i = sum_j weights_ij value_j`` (Bahdanau et al. 2015, eq. 5; EQUATIONS B1)."""
    return weights @ value
