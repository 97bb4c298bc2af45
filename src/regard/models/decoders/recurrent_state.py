"""What a recurrent decoder carries from step to step, and what it has after some."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor

from regard.attention import Memory
from regard.models.decoders.decoding import Chosen
from regard.nn.recurrent import State


@dataclass(frozen=True)
class RecurrentState:
    """Between two steps: each layer's state, the source, and what is fed back.

    Attributes:
        layers: tensors ``[1, batch, size]`` of every layer.
        source: the memory as the attention prepared it; None without attention.
        constant: context ``[batch, 1, size]`` read at every step; size 0 unless
            ``constant_context``.
        fed: the last attentional output ``[batch, 1, size]``; size 0 unless ``input_feeding``.
        coverage: how much each source position was attended to, ``[batch, heads, positions]``;
            None unless the attention has coverage.
        position: how many steps were taken.
        output: what the top layer gave last, ``[batch, 1, size]``; None where that is its state.
        expectation: whether hard attention takes the mean over all positions, and none by itself.
    """

    layers: tuple[State, ...]
    source: Memory | None
    constant: Tensor
    fed: Tensor
    coverage: Tensor | None = None
    position: int = 0
    output: Tensor | None = None
    expectation: bool = False
    pondering = None  # every token takes one step

    @property
    def last(self) -> Float[Tensor, "batch 1 size"]:
        """``s_{i-1}`` as attention and readouts see it: what the top layer gave last."""
        return self.layers[-1][0].transpose(0, 1) if self.output is None else self.output

    def select(self, indices: Int[Tensor, " rows"]) -> RecurrentState:
        """Any rows."""
        return replace(
            self.reorder(indices),
            source=None if self.source is None else self.source.select(indices),
            constant=self.constant.index_select(0, indices),
        )

    def reorder(self, indices: Int[Tensor, " rows"]) -> RecurrentState:
        """Rows that keep their source: only the decoder's own states move."""
        layers = tuple(
            tuple(tensor.index_select(1, indices) for tensor in state) for state in self.layers
        )
        return replace(
            self,
            layers=layers,
            fed=self.fed.index_select(0, indices),
            coverage=_rows(self.coverage, indices),
            output=_rows(self.output, indices),
        )


def _rows(tensor: Tensor | None, indices: Tensor) -> Tensor | None:
    return None if tensor is None else tensor.index_select(0, indices)


class Steps(NamedTuple):
    """What readouts read of some steps: the top layer's states before and after, and contexts.

    weights: of each head, or their logarithms where the decoder copies; None if not needed.
    features: what was read out and fed back.
    chosen: what hard attention drew; None if it drew nothing.
    """

    before: Float[Tensor, "batch steps size"]
    after: Float[Tensor, "batch steps size"]
    context: Float[Tensor, "batch steps context"]
    weights: Float[Tensor, "batch heads steps source"] | None
    features: Float[Tensor, "batch steps features"] | None = None
    chosen: Chosen | None = None
