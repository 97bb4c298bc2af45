"""What an encoder gives: a memory, and for recurrent encoders how it ended."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jaxtyping import Float, Int
from torch import Tensor

from regard.attention import Memory
from regard.nn.recurrent import State


@dataclass(frozen=True)
class Encoded(Memory):
    """The source as a memory ``[batch, positions, size]``.

    Attributes:
        final: last states of every layer of a recurrent encoder, tensors
            ``[directions, batch, size]``: of the last word forward, of the first word backward.
    """

    final: tuple[State, ...] = ()

    @property
    def states(self) -> Float[Tensor, "batch positions size"]:
        """Encoder states ``h_j``."""
        return self.key

    def select(self, indices: Int[Tensor, " rows"]) -> Encoded:
        """Rows of the memory and of the final states."""
        chosen = super().select(indices)
        final = tuple(
            tuple(tensor.index_select(1, indices) for tensor in layer) for layer in self.final
        )
        return replace(chosen, final=final)
