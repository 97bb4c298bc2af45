"""Attention with linear biases."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.positions.scheme import PositionScheme


def alibi_slopes(heads: int) -> list[float]:
    """The slope of every head (Press et al. 2022, section 3).

    A power of two n: ``2^(-8/n), 2^(-16/n), ..., 2^-8``. Any other number, as in the authors' code:
    the slopes of the power of two below it, then every other slope of the power of two above it.

    >>> alibi_slopes(6) == [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    True
    """
    below = 2 ** int(math.log2(heads))
    slopes = [2.0 ** (-8.0 * (i + 1) / below) for i in range(below)]
    between = [2.0 ** (-8.0 * (i + 1) / (2 * below)) for i in range(0, 2 * below, 2)]
    return slopes + between[: heads - below]


class ALiBi(PositionScheme):
    """``- slope * |i - j|`` is added to the scores; the slopes are constants, one a head.

    Under a causal mask this is the paper's; without one it is its symmetric form.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.slopes = alibi_slopes(heads)

    def bias(
        self, queries: Int[Tensor, "rows queries"], keys: Int[Tensor, "rows positions"]
    ) -> Float[Tensor, "rows heads queries positions"]:
        """The penalty of distance, in float32."""
        distance = (queries[:, None, :, None] - keys[:, None, None, :]).abs()
        slopes = torch.tensor(self.slopes, dtype=torch.float32, device=queries.device)
        return distance * -slopes[:, None, None]
