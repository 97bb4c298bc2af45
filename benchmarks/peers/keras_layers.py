"""Keras' attention layers on the torch backend, in the process that measures regard's."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from peers.environments import KERAS, ensure_beside
from regard.attention import Attention


def load(directory: Path) -> str:
    """Make Keras importable, installed first under ``directory`` where it is not; its version.

    It comes without anything that it shares with regard: torch, numpy and the rest are ours, so
    both run on the same ones. Raises InstallationError.
    """
    sys.path.append(str(ensure_beside(KERAS, directory)))
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    return str(keras.__version__)


def additive(v_a: Tensor) -> tuple[Any, Tensor]:
    """``AdditiveAttention`` with ``scale`` = ``v_a`` of one head, and that parameter.

    Called with query, value, key: all of them projected, for it has no projections of its own.
    """
    import keras

    layer = keras.layers.AdditiveAttention()
    vector = v_a.detach()[0]
    layer([torch.zeros(1, 1, len(vector)), torch.zeros(1, 1, len(vector))])
    layer.set_weights([vector.numpy()])
    return layer, layer.trainable_weights[0].value


def multi_head(attention: Attention) -> tuple[Any, Sequence[Tensor]]:
    """``MultiHeadAttention`` with the parameters of ``attention``, and those parameters."""
    import keras

    size, heads = attention.query_size, attention.heads
    layer = keras.layers.MultiHeadAttention(heads, size // heads)
    layer(torch.zeros(1, 1, size), torch.zeros(1, 1, size))
    output = attention.output_projection
    assert output is not None
    arrays = []
    for linear in (
        attention.query_projection,
        attention.key_projection,
        attention.value_projection,
    ):
        assert isinstance(linear, nn.Linear)
        arrays += [linear.weight.t().reshape(size, heads, -1), linear.bias.reshape(heads, -1)]
    arrays += [output.weight.t().reshape(heads, -1, size), output.bias]
    layer.set_weights([array.detach().numpy() for array in arrays])
    return layer, [weight.value for weight in layer.trainable_weights]
