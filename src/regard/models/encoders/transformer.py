"""Transformer encoder."""

from __future__ import annotations

from collections.abc import Iterator

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.models.configuration import TransformerEncoderConfiguration
from regard.models.encoded import Encoded
from regard.models.transformers import added_positions, layer_options
from regard.nn.dropout import dropout
from regard.nn.layers import Layers
from regard.nn.positions import Start
from regard.nn.transformer import EncoderLayer


class TransformerEncoder(nn.Module):
    """A stack of layers over embeddings plus positions (EQUATIONS B9, C1-C3).

    A pre-norm stack ends with a layer norm of its own.
    """

    def __init__(self, configuration: TransformerEncoderConfiguration, size: int) -> None:
        super().__init__()
        self.size = size
        self.dropout = configuration.dropout
        self.positions = added_positions(configuration, size)
        options = layer_options(configuration, size)
        self.layers: Layers[EncoderLayer] = Layers(
            EncoderLayer(options) for _ in range(configuration.layers)
        )
        self.norm = nn.LayerNorm(size) if configuration.norm == "pre" else nn.Identity()

    @property
    def longest(self) -> int | None:
        """Most tokens that it can read; None = any number."""
        return self.positions.longest

    def forward(
        self,
        inputs: Float[Tensor, "batch positions size"],
        mask: Bool[Tensor, "batch positions"],
        offset: Start = 0,
    ) -> Encoded:
        """Read the whole source at once, its positions counted from ``offset``."""
        hidden = dropout(self.positions(inputs, offset), self.dropout, self.training)
        key_mask = None if bool(mask.all()) else mask
        for layer in self.layers:
            hidden = layer(hidden, key_mask)
        hidden = self.norm(hidden)
        return Encoded(hidden, hidden, key_mask)

    def self_attention_by_layer(
        self,
        inputs: Float[Tensor, "batch positions size"],
        mask: Bool[Tensor, "batch positions"],
    ) -> Iterator[Float[Tensor, "batch heads positions positions"]]:
        """What all positions attend to, layer after layer; computed as it is read."""
        hidden = dropout(self.positions(inputs), self.dropout, self.training)
        for layer in self.layers:
            yield layer.self_weights(hidden, mask)
            hidden = layer(hidden, mask)
