"""Grids: an image of H x W vectors is a memory of H W positions (EQUATIONS B8)."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor


def flatten_grid(
    grid: Float[Tensor, "batch rows columns size"],
) -> Float[Tensor, "batch positions size"]:
    """The vectors row by row: position ``row * columns + column``."""
    return grid.flatten(1, 2)


def fold_grid(
    weights: Float[Tensor, "batch heads queries positions"], rows: int, columns: int
) -> Float[Tensor, "batch heads queries rows columns"]:
    """Weights over the positions of a grid, as the grid.

    Raises:
        ValueError: the number of positions is not ``rows * columns``.
    """
    if weights.shape[-1] != rows * columns:
        raise ValueError(
            f"{weights.shape[-1]} positions do not fold into {rows} rows of {columns} columns"
        )
    return weights.unflatten(-1, (rows, columns))
