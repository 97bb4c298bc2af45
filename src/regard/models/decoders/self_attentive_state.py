"""What a decoder that attends to its own past carries from token to token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jaxtyping import Float, Int
from torch import Tensor

from regard.attention import Memory
from regard.nn.halting import Pondered
from regard.nn.positions import Start, select_start


@dataclass(frozen=True)
class SelfAttentiveState:
    """Between two tokens: what was, the prepared source, and how far we are.

    Attributes:
        history: the past as each layer of a Transformer, or each step of a Universal Transformer,
            attends to it.
        source: prepared for each layer; a Universal Transformer has one.
        position: which number the next token of each row has.
        states: the encoder's, padding zeroed, for a decoder that copies.
        pondered: how many steps the last token took; None before it, or if all take as many.
    """

    history: tuple[Memory, ...]
    source: tuple[Memory, ...]
    position: Start = 0
    states: Float[Tensor, "batch positions size"] | None = None
    pondered: Pondered | None = None

    @property
    def pondering(self) -> Float[Tensor, "batch 2"] | None:
        """Steps that the last token took and what they cost (N and N + R), if adaptive."""
        return None if self.pondered is None else self.pondered.pairs[:, 0]

    def select(self, indices: Int[Tensor, " rows"]) -> SelfAttentiveState:
        """Any rows."""
        return replace(
            self.reorder(indices),
            source=tuple(memory.select(indices) for memory in self.source),
            position=select_start(self.position, indices),
            states=None if self.states is None else self.states.index_select(0, indices),
        )

    def reorder(self, indices: Int[Tensor, " rows"]) -> SelfAttentiveState:
        """Rows that keep their source: only what the decoder itself made moves."""
        return replace(
            self,
            history=tuple(memory.select(indices) for memory in self.history),
            pondered=None if self.pondered is None else self.pondered.select(indices),
        )

    def after(
        self, history: Sequence[Memory], pondered: Pondered | None = None
    ) -> SelfAttentiveState:
        """One token later."""
        position = self.position + 1
        return replace(self, history=tuple(history), position=position, pondered=pondered)
