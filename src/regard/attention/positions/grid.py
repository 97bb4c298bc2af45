"""Positions of a grid: a row and a column."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.positions.sinusoidal import sinusoidal_positions


def grid_positions(
    rows: int,
    columns: int,
    size: int,
    *,
    device: torch.device | None = None,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "positions size"]:
    """Sinusoids of the row in the first half of a vector, of the column in the second.

    ``P[row * columns + column] = [P_row; P_column]``, both as of ``sinusoidal_positions`` (Parmar
    et al. 2018, section 3.1). The first half of an odd size is the smaller one.
    """
    half = size // 2
    of_rows = sinusoidal_positions(rows, half, device=device, dtype=dtype)
    of_columns = sinusoidal_positions(columns, size - half, device=device, dtype=dtype)
    return join_positions(of_rows, of_columns)


def join_positions(
    of_rows: Float[Tensor, "rows one"], of_columns: Float[Tensor, "columns other"]
) -> Float[Tensor, "positions size"]:
    """The vector of every cell from that of its row and that of its column, row by row."""
    rows, columns = of_rows.shape[0], of_columns.shape[0]
    one = of_rows[:, None].expand(-1, columns, -1)
    other = of_columns[None].expand(rows, -1, -1)
    return torch.cat([one, other], dim=-1).flatten(0, 1)
