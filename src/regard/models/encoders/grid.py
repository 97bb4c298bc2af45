"""Grid encoder: the features of a picture as a memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention.linear import glorot_linear
from regard.models.encoded import Encoded
from regard.models.grid_configuration import GridEncoderConfiguration
from regard.models.transformers import layer_options
from regard.nn.dropout import dropout
from regard.nn.grid_positions import GridPositions
from regard.nn.layers import Layers
from regard.nn.transformer import EncoderLayer


class GridShape(NamedTuple):
    """Rows and columns of a grid, and how many numbers each of its vectors has."""

    rows: int
    columns: int
    size: int


class GridEncoder(nn.Module):
    """The vectors of a grid, one by one or in the light of each other (EQUATIONS B8).

    As they are, they are the annotation vectors of Xu et al. 2015, section 3.1.1. What is
    configured comes in this order: a layer norm over the numbers of each vector; a matrix to
    another size; vectors of row and column, added; dropout; Transformer layers.
    """

    longest: int | None = None  # grids are all of one shape

    def __init__(self, configuration: GridEncoderConfiguration, shape: GridShape) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = configuration.dropout
        self.size = configuration.size or shape.size
        self.input_norm = nn.LayerNorm(shape.size) if configuration.normalized else None
        self.projection = glorot_linear(shape.size, self.size) if configuration.size else None
        self.positions = GridPositions(
            configuration.positions, shape.rows, shape.columns, self.size
        )
        layers = configuration.layers
        options = layer_options(configuration, self.size) if layers else None
        self.layers: Layers[EncoderLayer] = Layers(
            EncoderLayer(options) for _ in range(layers) if options is not None
        )
        last = layers and configuration.norm == "pre"
        self.norm = nn.LayerNorm(self.size) if last else nn.Identity()

    def forward(
        self,
        grids: Float[Tensor, "batch positions features"],
        mask: Bool[Tensor, "batch positions"] | None = None,
    ) -> Encoded:
        """Read pictures. Every position of a grid is real: the mask says nothing.

        Raises:
            ValueError: grids of another shape.
        """
        hidden = self._placed(grids)
        for layer in self.layers:
            hidden = layer(hidden, None)
        hidden = self.norm(hidden)
        return Encoded(hidden, hidden)

    def self_attention_by_layer(
        self, grids: Float[Tensor, "batch positions features"]
    ) -> Iterator[Float[Tensor, "batch heads positions positions"]]:
        """What all positions attend to, layer after layer; computed as it is read."""
        hidden = self._placed(grids)
        for layer in self.layers:
            yield layer.self_weights(hidden, None)
            hidden = layer(hidden, None)

    def _placed(
        self, grids: Float[Tensor, "batch positions features"]
    ) -> Float[Tensor, "batch positions size"]:
        """What the first Transformer layer reads."""
        rows, columns, size = self.shape
        if grids.shape[1:] != (rows * columns, size):
            raise ValueError(
                f"grids must be [batch, {rows} * {columns}, {size}], not {list(grids.shape)}"
            )
        hidden = grids if self.input_norm is None else self.input_norm(grids)
        hidden = hidden if self.projection is None else self.projection(hidden)
        return dropout(self.positions(hidden), self.dropout, self.training)
