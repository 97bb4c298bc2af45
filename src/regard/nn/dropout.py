"""Dropout that costs little on a processor."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from regard.nn.randomness import generator

LEVELS = 1 << 16


def dropout(
    inputs: Float[Tensor, "*shape"], probability: float, training: bool
) -> Float[Tensor, "*shape"]:
    """Each element is zero with ``probability``, else scaled so that its mean stays (inverted).

    On a processor 16 random bits decide an element, four elements a draw of the generator, where
    torch draws for each: a fifth of the time. The probability is rounded to a multiple of 1/65,536
    and the scale fits the rounded one. Follows torch's global random state, or the generator that
    `drawing_from` (`regard.nn.randomness`) gives.
    """
    if not training or probability == 0.0:
        return inputs
    if inputs.device.type != "cpu" or torch.compiler.is_compiling():
        return F.dropout(inputs, probability)
    kept, scale = keep(inputs, probability)
    return inputs * kept.mul_(scale)


def keep(
    like: Float[Tensor, "*shape"], probability: float
) -> tuple[Float[Tensor, "*shape"], float]:
    """1 where an element is kept and 0 where it is dropped, and the scale of what is kept.

    On a processor, as `dropout` has it.
    """
    dropped = min(round(probability * LEVELS), LEVELS - 1)
    draws = torch.empty((like.numel() + 3) // 4, dtype=torch.int64)
    draws.random_(-(1 << 63), None, generator=generator())
    bits = draws.view(torch.int16)[: like.numel()]
    kept = torch.empty_like(like, requires_grad=False)
    torch.ge(bits.view(like.shape), dropped - LEVELS // 2, out=kept)
    return kept, LEVELS / (LEVELS - dropped)
