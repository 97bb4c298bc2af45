"""The order in which every query meets every position, some of each at a time."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

POSITIONS = 64  # many enough to be summed over in one go, few enough for many queries beside them


@dataclass(frozen=True)
class Tiling:
    """How many rows of the batch, queries and positions a tile has; the last ones may have fewer.

    Tiles come in the order rows, then positions, then queries (which change fastest).
    """

    rows: int
    queries: int
    positions: int

    def cut(
        self,
        tensor: Tensor,
        counts: tuple[int, int, int],
        *,
        rows: int | None = None,
        queries: int | None = None,
        positions: int | None = None,
    ) -> list[Tensor]:
        """The part of ``tensor`` that belongs to each tile, tile after tile: views.

        Args:
            counts: how many rows, queries and positions there are in all.
            rows, queries, positions: the dimensions of ``tensor`` that they are; without one,
                the same part serves all.
        """
        parts = [tensor]
        for each, count, dimension in (
            (self.rows, counts[0], rows),
            (self.positions, counts[2], positions),
            (self.queries, counts[1], queries),
        ):
            if dimension is None:
                times = max(1, -(-count // each))
                parts = [part for part in parts for _ in range(times)]
            elif each < count:
                parts = [piece for part in parts for piece in part.split(each, dimension)]
        return parts


def tile(batch: int, queries: int, positions: int, room: int) -> Tiling:
    """A tiling into tiles of at most ``room`` (query, position) pairs.

    A tile has as many positions as there are or as fit, then as many queries, then as many rows;
    of each about equally many as the next one.
    """
    columns = _evenly(positions, min(room, max(POSITIONS, room // max(1, queries))))
    some = _evenly(queries, room // columns)
    return Tiling(_evenly(batch, room // (columns * some)), some, columns)


def _evenly(count: int, largest: int) -> int:
    """The least size of pieces that are no more than those of size ``largest``; at least 1."""
    pieces = max(1, -(-count // max(1, largest)))
    return max(1, -(-count // pieces))
