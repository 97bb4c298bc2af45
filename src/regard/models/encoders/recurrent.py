"""Recurrent encoder, one direction or two."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.models.configuration import RecurrentEncoderConfiguration
from regard.models.encoded import Encoded
from regard.nn.dropout import dropout
from regard.nn.embedding import Lookup
from regard.nn.layers import Layers
from regard.nn.recurrent import CELLS, RecurrentLayer, State
from regard.nn.stacking import Stacking


class RecurrentEncoder(nn.Module):
    """``h_j = [forward h_j; backward h_j]`` (Bahdanau et al. 2015, eq. 7; EQUATIONS A2, A3)."""

    longest: int | None = None  # any number of tokens can be read

    def __init__(self, configuration: RecurrentEncoderConfiguration, input_size: int) -> None:
        super().__init__()
        directions = 2 if configuration.bidirectional else 1
        self.size = configuration.size * directions
        cell = CELLS[configuration.cell]
        sizes = [input_size] + [self.size] * (configuration.layers - 1)
        self.layers: Layers[RecurrentLayer] = Layers(
            cell(size, configuration.size, directions) for size in sizes
        )
        self.stacking = Stacking(
            self.size,
            configuration.layers,
            layer_norm=configuration.layer_norm,
            residual=configuration.residual,
        )
        self.dropout = configuration.dropout

    def forward(
        self,
        inputs: Float[Tensor, "batch positions input_size"] | Lookup,
        mask: Bool[Tensor, "batch positions"],
    ) -> Encoded:
        """Read the whole source; padding neither moves a state nor enters one."""
        final: list[State] = []
        hidden: Tensor | Lookup = inputs
        for number, layer in enumerate(self.layers):
            outputs, state = layer.run(hidden, mask=mask)
            final.append(state)
            outputs = self.stacking(number, outputs, hidden if isinstance(hidden, Tensor) else None)
            hidden = dropout(outputs, self.dropout, self.training)
        assert isinstance(hidden, Tensor)
        return Encoded(hidden, hidden, mask, final=tuple(final))
