"""Where positions enter a stack of Transformer layers."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import LearnedPositions, sinusoidal_positions

#: Those that are added to the embeddings; the others belong to self-attention.
ADDED = ("sinusoidal", "learned")


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
        self, embedded: Float[Tensor, "batch positions size"], start: int = 0
    ) -> Float[Tensor, "batch positions size"]:
        """The embeddings of positions from ``start`` on, marked."""
        length = embedded.shape[1]
        if self.learned is not None:
            return embedded + self.learned(length, start=start)
        if not self.sinusoidal:
            return embedded
        return embedded + sinusoidal_positions(
            length, self.size, start=start, device=embedded.device, dtype=embedded.dtype
        )
