"""Where positions enter a stack of Transformer layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import LearnedPositions, sinusoidal_positions

#: Those that are added to the embeddings; the others belong to self-attention.
ADDED = ("sinusoidal", "learned")

#: Which number the first of some positions has: one for all rows, or each row its own.
Start = int | Int[Tensor, " batch"]


def vectors_from(
    start: Start, length: int, table: Callable[..., Float[Tensor, "positions size"]]
) -> Float[Tensor, "*batch length size"]:
    """Vectors of ``length`` positions from ``start`` on; with a batch of starts, of each row's.

    table: called with a number of positions and the keyword ``start``, gives their vectors.
    """
    if isinstance(start, int):
        return table(length, start=start)
    first = int(start.min())
    known = table(int(start.max()) - first + length, start=first)
    return known[(start - first)[:, None] + torch.arange(length, device=start.device)]


def select_start(start: Start, indices: Int[Tensor, " rows"]) -> Start:
    """That of any rows."""
    return start if isinstance(start, int) else start.index_select(0, indices)


def scheme_of(positions: str) -> str | None:
    """The ``position_scheme`` of self-attention that positions of this name need."""
    return None if positions in (*ADDED, "none") else positions


class AddedPositions(nn.Module):
    """Vectors of positions, counted from 0, added to embeddings (EQUATIONS B9).

    Args:
        positions: ``sinusoidal``, ``learned``, or anything else, which adds nothing.
        maximum_positions: how many ``learned`` has.
    """

    def __init__(self, positions: str, size: int, maximum_positions: int) -> None:
        super().__init__()
        self.size = size
        self.sinusoidal = positions == "sinusoidal"
        self.learned: LearnedPositions | None = None
        if positions == "learned":
            self.learned = LearnedPositions(maximum_positions, size)

    @property
    def longest(self) -> int | None:
        """How many positions there are; None = any number."""
        return None if self.learned is None else self.learned.maximum_positions

    def forward(
        self, embedded: Float[Tensor, "batch positions size"], start: Start = 0
    ) -> Float[Tensor, "batch positions size"]:
        """The embeddings of positions from ``start`` on, marked."""
        table: Callable[..., Tensor] | None = self.learned
        if self.sinusoidal:
            table = partial(
                sinusoidal_positions,
                size=self.size,
                device=embedded.device,
                dtype=embedded.dtype,
            )
        if table is None:
            return embedded
        return embedded + vectors_from(start, embedded.shape[1], table)
