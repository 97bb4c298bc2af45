"""Rotary positions."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.positions.scheme import PositionScheme


def rotate(
    heads: Float[Tensor, "batch heads n size"],
    positions: Int[Tensor, "rows n"],
    theta: float = 10000.0,
) -> Float[Tensor, "batch heads n size"]:
    """Turn each pair ``(x_2i, x_2i+1)`` by the angle ``position * theta^(-2i/size)``.

    After it ``q_m . k_n`` depends on ``m - n`` alone (Su et al. 2021, eq. 34: interleaved pairs).
    Angles are computed in float64 and turned in at least float32, whatever the type of ``heads``.
    """
    size = heads.shape[-1]
    even = torch.arange(0, size, 2, device=heads.device, dtype=torch.float64)
    angles = positions[:, None, :, None].double() * theta ** (-even / size)
    precise = torch.promote_types(heads.dtype, torch.float32)
    cosine, sine = angles.cos().to(precise), angles.sin().to(precise)
    first, second = heads.to(precise).unflatten(-1, (-1, 2)).unbind(-1)
    turned = torch.stack([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
    return turned.flatten(-2).to(heads.dtype)


class Rotary(PositionScheme):
    """Queries and keys are rotated by their positions. No parameters, no tables kept.

    Args:
        theta: the longest wave is ``2 pi theta`` positions.
    """

    def __init__(self, theta: float = 10000.0) -> None:
        super().__init__()
        self.theta = theta

    def rotate(
        self, heads: Float[Tensor, "batch heads n size"], positions: Int[Tensor, "rows n"]
    ) -> Float[Tensor, "batch heads n size"]:
        """See :func:`rotate`."""
        return rotate(heads, positions, self.theta)
