"""What a decoder of hard attention carries from step to step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention import Memory
from regard.nn.kernels.emission import EmissionSource
from regard.nn.recurrent import State


@dataclass(frozen=True)
class HardSource:
    """Everything about the source, projected once.

    Attributes:
        readout: each position's part of the readout, prepared for what is made of it.
        features: the mean of the features that were read apart, ``[batch, 1, size]``; size 0
            without any.
        mask: True = a position that can be read; None = all can.
        memory: what scores compare with, as the attention prepared it (order 0).
        jumps: each position's part of where to go from it, ``[batch, positions, jumps]`` (order 1).
    """

    readout: EmissionSource
    features: Float[Tensor, "batch 1 features"]
    mask: Bool[Tensor, "batch positions"] | None
    memory: Memory | None = None
    jumps: Float[Tensor, "batch positions jumps"] | None = None

    def select(self, indices: Int[Tensor, " rows"]) -> HardSource:
        """Any rows."""
        return HardSource(
            self.readout.select(indices),
            self.features.index_select(0, indices),
            None if self.mask is None else self.mask.index_select(0, indices),
            None if self.memory is None else self.memory.select(indices),
            None if self.jumps is None else self.jumps.index_select(0, indices),
        )


class Emitted(NamedTuple):
    """What the last step predicted from: enough to know its posterior once the token comes.

    Attributes:
        prior: ``log p(a_i | y_<i, x)``.
        readout: the state's part of the readout.
        normalizer: what normalizes each position's emission.
    """

    prior: Float[Tensor, "batch positions"]
    readout: Float[Tensor, "batch readout"]
    normalizer: Float[Tensor, "batch positions"]


@dataclass(frozen=True)
class HardAttentionState:
    """Between two steps: each layer's state, the source, and how the alignment stands.

    Attributes:
        layers: tensors ``[1, batch, size]`` of every layer.
        source: the source, projected.
        emitted: what the last step predicted from; None before the first.
        position: how many steps were taken.
    """

    layers: tuple[State, ...]
    source: HardSource
    emitted: Emitted | None = None
    position: int = 0
    pondering = None  # every token takes one step

    def select(self, indices: Int[Tensor, " rows"]) -> HardAttentionState:
        """Any rows."""
        return replace(self.reorder(indices), source=self.source.select(indices))

    def reorder(self, indices: Int[Tensor, " rows"]) -> HardAttentionState:
        """Rows that keep their source: only the decoder's own states and alignments move."""
        layers = tuple(
            tuple(tensor.index_select(1, indices) for tensor in state) for state in self.layers
        )
        emitted = self.emitted
        if emitted is not None:
            emitted = Emitted(*(part.index_select(0, indices) for part in emitted))
        return replace(self, layers=layers, emitted=emitted)
