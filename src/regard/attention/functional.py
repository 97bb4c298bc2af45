"""The pure functions under every attention, beside the scores: masked softmax and weighted sum."""

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
    weights = torch.softmax(hide(scores.to(precise), mask), dim=-1)
    return torch.where(mask, weights, 0.0).to(scores.dtype)


def masked_log_softmax(
    scores: Float[Tensor, "*batch positions"],
    mask: Bool[Tensor, "*batch positions"] | None = None,
) -> Float[Tensor, "*batch positions"]:
    """Natural logarithm of :func:`masked_softmax`, never through the weights themselves.

    Hidden positions get minus infinity; so does a whole row with nothing to attend to. In at least
    float32, and so returned.
    """
    precise = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if mask is None:
        return torch.log_softmax(precise, dim=-1)
    logarithms = torch.log_softmax(hide(precise, mask), dim=-1)
    return torch.where(mask, logarithms, float("-inf"))


def weighted_sum(
    weights: Float[Tensor, "batch heads queries positions"],
    value: Float[Tensor, "batch value_heads positions size"],
) -> Float[Tensor, "batch heads queries size"]:
    """Context ``c_i = sum_j weights_ij value_j`` (Bahdanau et al. 2015, eq. 5; EQUATIONS B1).

    Fewer heads of values than of weights: each serves a group of neighbors.
    """
    if weights.dim() != 4 or value.shape[1] == weights.shape[1]:
        return weights @ value
    grouped = weights.unflatten(1, (value.shape[1], -1))
    return torch.einsum("bgrqk,bgkd->bgrqd", grouped, value).flatten(1, 2)  # no value repeated


def hide(
    scores: Float[Tensor, "*batch positions"], mask: Bool[Tensor, "*batch positions"]
) -> Float[Tensor, "*batch positions"]:
    """Minus infinity where ``mask`` is False; 0 where that leaves a row nothing (it would be 0/0).

    The caller hides such rows again, after the softmax.
    """
    fill = torch.where(mask.any(dim=-1, keepdim=True), float("-inf"), 0.0).to(scores.dtype)
    return torch.where(mask, scores, fill)
