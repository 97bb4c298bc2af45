"""Where the queries of a call stand."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor


def check_positions(
    positions: Int[Tensor, "*rows n"] | None, batch: int, count: int
) -> Int[Tensor, "rows n"] | None:
    """Positions as ``[1 or batch, count]``.

    Raises:
        TypeError: they are not whole numbers. ValueError: they do not fit.
    """
    if positions is None:
        return None
    if positions.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"positions must be int64 or int32, not {positions.dtype}")
    rows = positions[None] if positions.dim() == 1 else positions
    if rows.dim() != 2 or rows.shape[1] != count or rows.shape[0] not in (1, batch):
        raise ValueError(
            f"positions must be [{count}] or [{batch}, {count}], not {list(positions.shape)}"
        )
    return rows


def query_places(
    positions: Int[Tensor, "rows queries"] | None,
    keys: Int[Tensor, "rows positions"],
    queries: int,
    *,
    last: bool,
) -> Int[Tensor, "rows queries"]:
    """Where each query stands: as given; the ``last`` places of the keys; or 0, 1, 2, ...

    More queries than keys: the first of them stand before all keys.
    """
    if positions is not None:
        return positions
    if not last or keys.shape[1] == 0:
        return torch.arange(queries, device=keys.device)[None]
    back = torch.arange(-queries, 0, device=keys.device)
    held = back.clamp(min=-keys.shape[1])
    return keys[:, held] + (back - held)
