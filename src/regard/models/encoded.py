"""What an encoder gives: a memory, and for recurrent encoders how it ended."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention import Memory
from regard.models.copies import Copies
from regard.nn.halting import Pondered
from regard.nn.positions import Start, select_start
from regard.nn.recurrent import State


@dataclass(frozen=True)
class Encoded(Memory):
    """The source as a memory ``[batch, positions, size]``.

    Attributes:
        final: last states of every layer of a recurrent encoder, tensors
            ``[directions, batch, size]``: of the last word forward, of the first word backward.
        apart: ``[batch, positions]``, True = a feature that was read apart from the text: attended
            to, but no part of what sums up the text. None without any.
        copies: what can be copied of it; None for a model that does not copy.
        pondered: how many steps each position took, where steps are adaptive; features that were
            read apart took none.
        offset: which number the first position of each row has; that of its target has the same.
    """

    final: tuple[State, ...] = ()
    apart: Bool[Tensor, "batch positions"] | None = None
    copies: Copies | None = None
    pondered: Pondered | None = None
    offset: Start = 0

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
        apart = None if self.apart is None else self.apart.index_select(0, indices)
        copies = None if self.copies is None else self.copies.select(indices)
        pondered = None if self.pondered is None else self.pondered.select(indices)
        offset = select_start(self.offset, indices)
        return replace(
            chosen, final=final, apart=apart, copies=copies, pondered=pondered, offset=offset
        )
