"""Transformer decoder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from regard.models.configuration import TransformerDecoderConfiguration
from regard.models.decoders.decoding import Advanced, Copying, Decoding, mean_over_heads
from regard.models.decoders.self_attentive_state import SelfAttentiveState
from regard.models.encoded import Encoded
from regard.models.transformers import added_positions, layer_options
from regard.nn.dropout import dropout
from regard.nn.generation_gate import GenerationGate
from regard.nn.layers import Layers
from regard.nn.positions import Start
from regard.nn.transformer import DecoderLayer


class TransformerDecoder(nn.Module):
    """A stack of layers (EQUATIONS C1-C3); a step reads a key-value cache.

    The attention shown is the cross-attention of one layer (``shown_layer``; the last but one
    unless set, which aligns best in Garg et al. 2019), as the mean over its heads. With ``copying``
    that is what copies, and ``p_gen`` (See et al. 2017, section 2.2) reads the encoder states that
    it weighs, this decoder's last states and the embedded tokens.
    """

    def __init__(
        self, configuration: TransformerDecoderConfiguration, size: int, memory_size: int
    ) -> None:
        super().__init__()
        self.features_size = size
        self.size = size
        self.dropout = configuration.dropout
        self.positions = added_positions(configuration, size)
        options = layer_options(configuration, size)
        self.layers: Layers[DecoderLayer] = Layers(
            DecoderLayer(options, memory_size) for _ in range(configuration.layers)
        )
        self.norm = nn.LayerNorm(size) if configuration.norm == "pre" else nn.Identity()
        self.shown_layer = configuration.shown_layer or max(1, configuration.layers - 1)
        gate = GenerationGate(memory_size, size, size) if configuration.copying else None
        self.generation_gate = gate

    @property
    def longest(self) -> int | None:
        """Most tokens that it can write; None = any number."""
        return self.positions.longest

    def forward(
        self,
        embedded: Float[Tensor, "batch steps size"],
        memory: Encoded,
        need_weights: bool = False,
    ) -> Decoding:
        """All teacher-forced steps, with attention, of the layer shown, if asked."""
        hidden = self._place(embedded, memory.offset)
        shown = None
        for number, layer in enumerate(self.layers, start=1):
            source = layer.read(memory)
            wanted = self._wanted(number, need_weights)
            hidden, _, weights = layer(hidden, source, need_weights=wanted)
            shown = weights if weights is not None else shown
        decoding = self._decoding(embedded, self.norm(hidden), shown, self._copied(memory))
        return decoding if need_weights else decoding._replace(attention=None)

    @property
    def attention_layers(self) -> int:
        """How many attentions over the source there are, one after the other."""
        return len(self.layers)

    @property
    def attention_heads(self) -> int:
        """How many heads each of them has."""
        return self.layers.first().cross_attention.heads

    def attention_by_layer(
        self, embedded: Float[Tensor, "batch steps size"], memory: Encoded
    ) -> Iterator[Float[Tensor, "batch heads steps source"]]:
        """What all teacher-forced steps attend to, layer after layer; computed as it is read."""
        hidden = self._place(embedded, memory.offset)
        for layer in self.layers:
            source = layer.read(memory)
            hidden, _, weights = layer(hidden, source, need_weights=True)
            yield weights

    def self_attention_by_layer(
        self, embedded: Float[Tensor, "batch steps size"], memory: Encoded
    ) -> Iterator[Float[Tensor, "batch heads steps steps"]]:
        """What all teacher-forced steps attend to of themselves, as `attention_by_layer`."""
        hidden = self._place(embedded, memory.offset)
        for layer in self.layers:
            yield layer.self_weights(hidden)
            hidden = layer(hidden, layer.cross_attention.prepare(memory))[0]

    def start(self, memory: Encoded) -> SelfAttentiveState:
        """Project the memory for every layer; nothing decoded yet."""
        source = tuple(layer.cross_attention.prepare(memory) for layer in self.layers)
        nothing = memory.states.new_zeros(memory.batch, 0, self.size)
        history = tuple(layer.self_attention.prepare(nothing) for layer in self.layers)
        return SelfAttentiveState(history, source, memory.offset, self._copied(memory))

    def advance(self, step: Float[Tensor, "batch 1 size"], state: SelfAttentiveState) -> Advanced:
        """The next step, the state after it, and the attention shown."""
        hidden = self._place(step, state.position)
        history = []
        shown = None
        for number, layer in enumerate(self.layers, start=1):
            hidden, kept, weights = layer(
                hidden,
                state.source[number - 1],
                state.history[number - 1],
                need_weights=self._wanted(number, True),
            )
            history.append(kept)
            shown = weights if weights is not None else shown
        decoding = self._decoding(step, self.norm(hidden), shown, state.states)
        return decoding.advanced(state.after(history))

    def _wanted(self, layer: int, need_weights: bool) -> bool | Literal["log"]:
        """What the cross-attention of a layer is asked for: copying needs logarithms."""
        if layer != self.shown_layer:
            return False
        return need_weights if self.generation_gate is None else "log"

    def _copied(self, memory: Encoded) -> Tensor | None:
        """The encoder states that ``p_gen`` is to read, junk in padding gone."""
        if self.generation_gate is None or memory.key_mask is None:
            return None if self.generation_gate is None else memory.states
        return memory.states.masked_fill(~memory.key_mask[..., None], 0.0)

    def _decoding(
        self, embedded: Tensor, features: Tensor, shown: Tensor | None, states: Tensor | None
    ) -> Decoding:
        """Features, with the mean over heads of weights, or of logarithms where they copy."""
        if self.generation_gate is None:
            return Decoding(features, None if shown is None else shown.mean(1))
        assert shown is not None and states is not None
        log_weights = mean_over_heads(shown)
        weights = log_weights.exp()
        context = weights.to(states.dtype) @ states
        gate = self.generation_gate(context, features, embedded)
        return Decoding(features, weights, Copying(log_weights, gate))

    def _place(self, embedded: Tensor, start: Start) -> Tensor:
        return dropout(self.positions(embedded, start), self.dropout, self.training)
