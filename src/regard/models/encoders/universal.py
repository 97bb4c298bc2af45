"""Universal Transformer encoder."""

from __future__ import annotations

from collections.abc import Iterator

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.models.configuration import UniversalEncoderConfiguration
from regard.models.encoded import Encoded
from regard.models.transformers import layer_options, recurrence
from regard.nn.dropout import dropout
from regard.nn.positions import Start
from regard.nn.transformer import EncoderLayer
from regard.nn.universal import Progress, while_going


class UniversalEncoder(nn.Module):
    """One Transformer layer, again and again, over all positions at once.

    Dehghani et al. 2019, eq. 4 and 5 (EQUATIONS C4), with each residual around what the layer
    reads, position and step included:

        A^t = LayerNorm((H^{t-1} + P^t) + MultiHead(H^{t-1} + P^t))
        H^t = LayerNorm(A^t + Transition(A^t))

    With adaptive steps (C5) a position's state is a weighted sum over the steps it took.
    """

    longest: int | None = None  # any number of tokens can be read

    def __init__(self, configuration: UniversalEncoderConfiguration, size: int) -> None:
        super().__init__()
        self.size = size
        self.dropout = configuration.dropout
        self.layer = EncoderLayer(layer_options(configuration, size))
        self.recurrence = recurrence(configuration, size)
        self.norm = nn.LayerNorm(size) if configuration.norm == "pre" else nn.Identity()

    def forward(
        self,
        inputs: Float[Tensor, "batch positions size"],
        mask: Bool[Tensor, "batch positions"],
        offset: Start = 0,
    ) -> Encoded:
        """Read the whole source at once, as many times as there are steps.

        Its positions are counted from ``offset + 1``.
        """
        key_mask = None if bool(mask.all()) else mask
        for after_step, _ in self._steps(inputs, mask, offset):
            progress = after_step
        states = self.norm(progress.output)
        return Encoded(states, states, key_mask, pondered=progress.pondered(key_mask))

    def self_attention_by_layer(
        self,
        inputs: Float[Tensor, "batch positions size"],
        mask: Bool[Tensor, "batch positions"],
    ) -> Iterator[Float[Tensor, "batch heads positions positions"]]:
        """What all positions attend to, step after step; computed as it is read.

        A position that has halted is shown with what it attended to at its last step.
        """
        looked = self._steps(inputs, mask, 0, need_weights=True)
        yield from while_going(looked, self.recurrence.steps)

    def _steps(
        self, inputs: Tensor, mask: Tensor, offset: Start, need_weights: bool = False
    ) -> Iterator[tuple[Progress, Tensor | None]]:
        """Where every position stands after each step, and what that attended to if asked."""
        progress = self.recurrence.begin(dropout(inputs, self.dropout, self.training), mask)
        key_mask = None if bool(mask.all()) else mask
        for step in range(1, self.recurrence.steps + 1):
            read = self.recurrence.mark(progress.states, step, offset + 1)
            weights = self.layer.self_weights(read, key_mask) if need_weights else None
            made = self.layer(read, key_mask)
            progress = self.recurrence.after(progress, read, made, step)
            yield progress, weights
            if progress.halted:
                return
