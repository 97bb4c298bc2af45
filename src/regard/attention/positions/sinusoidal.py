"""Sinusoidal positions of the Transformer."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor


def sinusoidal_positions(
    length: int,
    size: int,
    *,
    start: int = 0,
    device: torch.device | None = None,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "length size"]:
    """Interleaved sines and cosines (Vaswani et al. 2017, section 3.5; EQUATIONS B9).

    ``P[pos, 2i] = sin(pos / 10000^(2i/size))``, ``P[pos, 2i+1] = cos(pos / 10000^(2i/size))``,
    positions counted from ``start``. Odd sizes end with a sine. Computed in float64, so that far
    positions keep their digits.
    """
    positions = torch.arange(start, start + length, device=device, dtype=torch.float64)
    return sinusoids(positions, size).to(dtype)


def sinusoids(positions: Float[Tensor, " n"], size: int) -> Float[Tensor, "n size"]:
    """Sine and cosine of every ``position / 10000^(2i/size)``, interleaved."""
    even = torch.arange(0, size, 2, device=positions.device, dtype=positions.dtype)
    angles = positions[:, None] * torch.exp(even * (-math.log(10000.0) / size))
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return table[:, :size]
