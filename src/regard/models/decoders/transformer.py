"""Transformer decoder."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Memory, sinusoidal_positions
from regard.models.configuration import TransformerDecoderConfiguration
from regard.models.encoded import Encoded
from regard.nn.dropout import dropout
from regard.nn.layers import Layers
from regard.nn.transformer import DecoderLayer


@dataclass(frozen=True)
class TransformerState:
    """Between two steps: each layer's history, its prepared source, and how far we are."""

    history: tuple[Memory, ...]
    source: tuple[Memory, ...]
    position: int

    def select(self, indices: Int[Tensor, " rows"]) -> TransformerState:
        """Any rows."""
        chosen = self.reorder(indices)
        return replace(chosen, source=tuple(memory.select(indices) for memory in self.source))

    def reorder(self, indices: Int[Tensor, " rows"]) -> TransformerState:
        """Rows that keep their source: only the histories move."""
        return replace(self, history=tuple(memory.select(indices) for memory in self.history))


class TransformerDecoder(nn.Module):
    """A stack of layers (EQUATIONS C1-C3); a step reads a key-value cache.

    The attention shown is the cross-attention of one layer (``shown_layer``; the last but one
    unless set, which aligns best in Garg et al. 2019), as the mean over its heads.
    """

    def __init__(
        self, configuration: TransformerDecoderConfiguration, size: int, memory_size: int
    ) -> None:
        super().__init__()
        self.features_size = size
        self.size = size
        self.dropout = configuration.dropout
        self.layers: Layers[DecoderLayer] = Layers(
            DecoderLayer(
                size,
                memory_size,
                configuration.heads,
                configuration.feed_forward_size,
                activation=configuration.activation,
                norm=configuration.norm,
                dropout=configuration.dropout,
                attention_dropout=configuration.attention_dropout,
            )
            for _ in range(configuration.layers)
        )
        self.norm = nn.LayerNorm(size) if configuration.norm == "pre" else nn.Identity()
        self.shown_layer = configuration.shown_layer or max(1, configuration.layers - 1)

    def forward(
        self,
        embedded: Float[Tensor, "batch steps size"],
        memory: Encoded,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch steps size"], Tensor | None]:
        """Features of all teacher-forced steps, and attention if asked.

        Attention is ``[batch, steps, source]``, of the layer shown.
        """
        hidden = self._place(embedded, 0)
        shown = None
        for number, layer in enumerate(self.layers, start=1):
            source = layer.cross_attention.prepare(memory)
            wanted = need_weights and number == self.shown_layer
            hidden, _, weights = layer(hidden, source, need_weights=wanted)
            shown = weights.mean(1) if weights is not None else shown
        return self.norm(hidden), shown

    def start(self, memory: Encoded) -> TransformerState:
        """Project the memory for every layer; nothing decoded yet."""
        source = tuple(layer.cross_attention.prepare(memory) for layer in self.layers)
        nothing = memory.states.new_zeros(memory.batch, 0, self.size)
        history = tuple(layer.self_attention.prepare(nothing) for layer in self.layers)
        return TransformerState(history, source, 0)

    def advance(
        self, embedded: Float[Tensor, "batch size"], state: TransformerState
    ) -> tuple[Float[Tensor, "batch size"], TransformerState, Float[Tensor, "batch source"]]:
        """Features of the next step, the state after it, and the attention shown."""
        hidden = self._place(embedded[:, None], state.position)
        history = []
        shown = embedded.new_zeros(0)
        for number, layer in enumerate(self.layers, start=1):
            wanted = number == self.shown_layer
            hidden, kept, weights = layer(
                hidden, state.source[number - 1], state.history[number - 1], need_weights=wanted
            )
            history.append(kept)
            shown = weights.mean(1)[:, 0] if weights is not None else shown
        features: Tensor = self.norm(hidden)[:, 0]
        return features, replace(state, history=tuple(history), position=state.position + 1), shown

    def _place(self, embedded: Tensor, start: int) -> Tensor:
        places = sinusoidal_positions(
            embedded.shape[1],
            self.size,
            start=start,
            device=embedded.device,
            dtype=embedded.dtype,
        )
        return dropout(embedded + places, self.dropout, self.training)
