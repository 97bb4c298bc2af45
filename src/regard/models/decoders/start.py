"""How the encoder's states become the decoder's first state (EQUATIONS A1, A4, A16)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.attention.linear import glorot_linear
from regard.models.configuration import StartConfiguration
from regard.models.encoded import Encoded
from regard.nn.layers import Layers
from regard.nn.recurrent import State


class Start(nn.Module):
    """First state of every decoder layer, tensors ``[1, batch, size]``.

    ``backward_first``: the backward state at the first word, as Bahdanau's
    ``s_0 = tanh(W_s <-h_1)``. ``last``: the last states of both directions joined. ``mean``: the
    mean of the real encoder states. ``zero``: nothing passes. Layer k starts from encoder layer k
    where the two have as many layers, else from the last; an LSTM's cell from the encoder's cell,
    or where there is none, from a projection of the same states.

    Projections: ``tanh``, a matrix and tanh; ``linear``, a matrix; ``mlp``, a matrix and ReLU
    before the matrix and tanh, one for each tensor (Xu et al. 2015, section 3.1.2; A10).
    """

    def __init__(
        self,
        configuration: StartConfiguration,
        *,
        encoder_size: int,
        directions: int,
        size: int,
        layers: int,
        tensors: int,
    ) -> None:
        super().__init__()
        self.source = configuration.from_
        self.size = size
        self.layers = layers
        self.tensors = tensors
        self.squash = configuration.projection in ("tanh", "mlp")
        if self.source == "backward_first" and directions != 2:
            raise ValueError("start from 'backward_first' needs a bidirectional encoder")
        inputs = encoder_size // directions if self.source == "backward_first" else encoder_size
        self.projections: Layers[nn.Module] = Layers()
        if self.source == "zero":
            return
        if configuration.projection == "none":
            if inputs != size:
                raise ValueError(
                    f"start with projection 'none' needs encoder states of size {size}, "
                    f"not {inputs}: use 'tanh' or 'linear'"
                )
            return
        deep = configuration.projection == "mlp"
        for _ in range(layers * tensors):
            self.projections.append(_mlp(inputs, size) if deep else glorot_linear(inputs, size))

    def forward(self, memory: Encoded) -> tuple[State, ...]:
        """The state of each layer."""
        if self.source == "zero":
            zeros = memory.states.new_zeros(1, memory.batch, self.size)
            return ((zeros,) * self.tensors,) * self.layers
        return tuple(
            tuple(self._one(memory, layer, part) for part in range(self.tensors))
            for layer in range(self.layers)
        )

    def _one(self, memory: Encoded, layer: int, part: int) -> Tensor:
        summary = self._summary(memory, layer, part)
        if self.projections:
            summary = self.projections[layer * self.tensors + part](summary)
            summary = torch.tanh(summary) if self.squash else summary
        return summary.unsqueeze(0)

    def _summary(self, memory: Encoded, layer: int, part: int) -> Tensor:
        if self.source == "mean" or not memory.final:
            return masked_mean(memory)
        final = memory.final[layer if len(memory.final) == self.layers else -1]
        tensor = final[part if part < len(final) else 0]
        if self.source == "backward_first":
            return tensor[1]
        return tensor.transpose(0, 1).flatten(1)


def _mlp(inputs: int, size: int) -> nn.Module:
    """Two matrices with ReLU between them."""
    return nn.Sequential(glorot_linear(inputs, inputs), nn.ReLU(), glorot_linear(inputs, size))


def masked_mean(memory: Encoded) -> Tensor:
    """Mean of the real states of the text: ``[batch, size]``."""
    real = memory.key_mask
    if memory.apart is not None:
        real = ~memory.apart if real is None else real & ~memory.apart
    if real is None:
        return memory.states.mean(1)
    real = real[..., None]
    return memory.states.masked_fill(~real, 0.0).sum(1) / real.sum(1).clamp(min=1)


def last_state(memory: Encoded) -> Tensor:
    """The top layer's last states, both directions joined: ``[batch, size]``.

    An encoder that has none, a Transformer, is summed up by the mean of its states.
    """
    if not memory.final:
        return masked_mean(memory)
    return memory.final[-1][0].transpose(0, 1).flatten(1)
