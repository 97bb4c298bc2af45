"""Luong's location score."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


def location_scores(
    query: Float[Tensor, "batch heads queries size"],
    W_a: Float[Tensor, "heads maximum_positions size"],
    positions: int,
) -> Float[Tensor, "batch heads queries positions"]:
    """``e_i = W_a s_i``, cut to the positions there are (Luong et al. 2015, eq. 7; A17).

    The query alone says where to look; keys are not compared.

    Raises:
        ValueError: more positions than ``W_a`` has rows.
    """
    if positions > W_a.shape[1]:
        raise ValueError(
            f"{positions} positions, but the location score was made for at most {W_a.shape[1]}: "
            "raise maximum_positions"
        )
    if torch.compiler.is_compiling():  # a slice that may be all of it is two graphs, a copy is one
        rows = W_a.index_select(1, torch.arange(positions, device=W_a.device))
    else:
        rows = W_a[:, :positions]
    return query @ rows.transpose(-1, -2)


class LocationScore(nn.Module):
    """Holds ``W_a``, one row a position, for every head."""

    def __init__(self, heads: int, query_size: int, maximum_positions: int) -> None:
        super().__init__()
        self.maximum_positions = maximum_positions
        self.W_a = nn.Parameter(torch.empty(heads, maximum_positions, query_size))
        for matrix in self.W_a:
            nn.init.xavier_uniform_(matrix)

    def forward(
        self,
        query: Float[Tensor, "batch heads queries size"],
        key: Float[Tensor, "batch key_heads positions key_size"],
        derived: tuple[Tensor, ...] = (),
    ) -> Float[Tensor, "batch heads queries positions"]:
        """Scores of every query for every position."""
        return location_scores(query, self.W_a, key.shape[2])
