"""Learned positions."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


class LearnedPositions(nn.Module):
    """One learned vector for each position up to a fixed number (Gehring et al. 2017, 3.1).

    Args:
        maximum_positions: how many there are; a position past them is an error, never a guess.
        size: of each vector.
    """

    def __init__(self, maximum_positions: int, size: int) -> None:
        super().__init__()
        self.maximum_positions = maximum_positions
        self.table = nn.Parameter(torch.empty(maximum_positions, size))
        nn.init.normal_(self.table, std=size**-0.5)

    def forward(self, length: int, *, start: int = 0) -> Float[Tensor, "length size"]:
        """Vectors of the positions ``start`` to ``start + length - 1``."""
        if start < 0 or start + length > self.maximum_positions:
            raise ValueError(
                f"positions {start} to {start + length - 1} are not all among the "
                f"{self.maximum_positions} that were learned: raise maximum_positions"
            )
        return self.table[start : start + length]
