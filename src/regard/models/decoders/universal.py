"""Universal Transformer decoder."""

from __future__ import annotations

from collections.abc import Iterator

from jaxtyping import Float
from torch import Tensor, nn

from regard.models.configuration import UniversalDecoderConfiguration
from regard.models.decoders.decoding import Advanced, Decoding
from regard.models.decoders.self_attentive_state import SelfAttentiveState
from regard.models.encoded import Encoded
from regard.models.transformers import layer_options, recurrence
from regard.nn.dropout import dropout
from regard.nn.transformer import DecoderLayer
from regard.nn.universal import Progress, while_going


class UniversalDecoder(nn.Module):
    """One Transformer decoder layer, again and again (EQUATIONS C4; C5 with adaptive steps).

    At each step a position attends to itself and those before it, as they were before that step,
    then to the encoder's final states. One that has halted is read as it was when it did. A token
    at a time needs the keys of every step, so a history is kept for each.

    The attention shown is the mean over heads of the last step's, or with adaptive steps of all
    steps, weighted as the position's output weighs them.
    """

    longest: int | None = None  # any number of tokens can be written

    def __init__(
        self, configuration: UniversalDecoderConfiguration, size: int, memory_size: int
    ) -> None:
        super().__init__()
        self.features_size = size
        self.size = size
        self.dropout = configuration.dropout
        self.layer = DecoderLayer(layer_options(configuration, size), memory_size)
        self.recurrence = recurrence(configuration, size)
        self.norm = nn.LayerNorm(size) if configuration.norm == "pre" else nn.Identity()

    def forward(
        self,
        embedded: Float[Tensor, "batch steps size"],
        memory: Encoded,
        need_weights: bool = False,
    ) -> Decoding:
        """All target positions at once, with attention if asked."""
        shown = None
        for progress, weights in self._steps(embedded, memory, need_weights):
            shown = self._shown(shown, weights, progress)
        return self._decoding(progress, shown)

    @property
    def attention_layers(self) -> int:
        """How many attentions over the source there are, one after the other: a step has one."""
        return self.recurrence.steps

    @property
    def attention_heads(self) -> int:
        """How many heads each of them has."""
        return self.layer.cross_attention.heads

    def attention_by_layer(
        self, embedded: Float[Tensor, "batch steps size"], memory: Encoded
    ) -> Iterator[Float[Tensor, "batch heads steps source"]]:
        """What all positions attend to, step after step; computed as it is read.

        A position that has halted is shown with what it attended to at its last step.
        """
        looked = self._steps(embedded, memory, need_weights=True)
        yield from while_going(looked, self.recurrence.steps)

    def self_attention_by_layer(
        self, embedded: Float[Tensor, "batch steps size"], memory: Encoded
    ) -> Iterator[Float[Tensor, "batch heads steps steps"]]:
        """What all positions attend to of themselves, as `attention_by_layer`."""
        looked = self._steps(embedded, memory, need_weights=False, need_own=True)
        yield from while_going(looked, self.recurrence.steps)

    def _steps(
        self, embedded: Tensor, memory: Encoded, need_weights: bool, need_own: bool = False
    ) -> Iterator[tuple[Progress, Tensor | None]]:
        """Where every position stands after each step, and what that attended to if asked.

        need_own: of the positions themselves, not of the source.
        """
        source = self.layer.read(memory)
        progress = self.recurrence.begin(dropout(embedded, self.dropout, self.training))
        for step in range(1, self.recurrence.steps + 1):
            read = self.recurrence.mark(progress.states, step, memory.offset + 1)
            own = self.layer.self_weights(read) if need_own else None
            made, _, weights = self.layer(read, source, need_weights=need_weights)
            progress = self.recurrence.after(progress, read, made, step)
            yield progress, own if need_own else weights
            if progress.halted:
                return

    def start(self, memory: Encoded) -> SelfAttentiveState:
        """Project the memory, once for all steps; nothing decoded yet."""
        nothing = memory.states.new_zeros(memory.batch, 0, self.size)
        attention = self.layer.self_attention
        history = tuple(attention.prepare(nothing) for _ in range(self.recurrence.steps))
        source = (self.layer.cross_attention.prepare(memory),)
        return SelfAttentiveState(history, source, memory.offset)

    def advance(
        self, embedded: Float[Tensor, "batch 1 size"], state: SelfAttentiveState
    ) -> Advanced:
        """The next token, the state after it, and the attention shown."""
        start, (source,) = state.position + 1, state.source
        progress = self.recurrence.begin(dropout(embedded, self.dropout, self.training))
        history, shown = [], None
        for step, known in enumerate(state.history, start=1):
            read = self.recurrence.mark(progress.states, step, start)
            if self.recurrence.settled(progress):
                history.append(self.layer.remember(known, read))
                continue
            made, kept, weights = self.layer(read, source, known, need_weights=True)
            progress = self.recurrence.after(progress, read, made, step)
            shown = self._shown(shown, weights, progress)
            history.append(kept)
        decoding = self._decoding(progress, shown)
        return decoding.advanced(state.after(history, decoding.pondered))

    def _shown(
        self, before: Tensor | None, weights: Tensor | None, progress: Progress
    ) -> Float[Tensor, "batch steps source"] | None:
        """The attention shown after one more step."""
        if weights is None:
            return None
        mean, halting = weights.mean(1), self.recurrence.halting
        if halting is None or progress.tally is None:
            return mean
        weight = progress.tally.weight[..., None].to(mean.dtype)
        if before is None:
            return weight * mean
        return weight * mean + (before if halting.graves else (1 - weight) * before)

    def _decoding(self, progress: Progress, shown: Tensor | None) -> Decoding:
        """What all steps gave; shares of attention, where the output's weights are none."""
        halting = self.recurrence.halting
        if shown is not None and halting is not None and not halting.graves:
            total = shown.sum(-1, keepdim=True)
            shown = shown / total.masked_fill(total == 0, 1.0)
        features = self.norm(progress.output)
        return Decoding(features, shown, pondered=progress.pondered())
