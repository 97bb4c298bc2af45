"""Where positions enter a grid."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import LearnedPositions, grid_positions
from regard.attention.positions.grid import join_positions


class GridPositions(nn.Module):
    """Vectors of rows and columns, added to those of a grid.

    The first half of what is added tells the row, the second half the column.

    Args:
        positions: ``sinusoidal``, ``learned``, or ``none``, which adds nothing.
    """

    def __init__(self, positions: str, rows: int, columns: int, size: int) -> None:
        super().__init__()
        if positions != "none" and size < 2:
            raise ValueError("positions of a grid need vectors of 2 numbers or more")
        self.shape = (rows, columns, size)
        self.sinusoidal = positions == "sinusoidal"
        self.of_rows: LearnedPositions | None = None
        self.of_columns: LearnedPositions | None = None
        if positions == "learned":
            self.of_rows = LearnedPositions(rows, size // 2)
            self.of_columns = LearnedPositions(columns, size - size // 2)

    def forward(
        self, grid: Float[Tensor, "batch positions size"]
    ) -> Float[Tensor, "batch positions size"]:
        """The vectors, row by row, marked."""
        rows, columns, size = self.shape
        if self.of_rows is not None and self.of_columns is not None:
            return grid + join_positions(self.of_rows(rows), self.of_columns(columns))
        if not self.sinusoidal:
            return grid
        return grid + grid_positions(rows, columns, size, device=grid.device, dtype=grid.dtype)
