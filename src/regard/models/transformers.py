"""How the configuration of a Transformer becomes its parts."""

from __future__ import annotations

from regard.models.configuration import (
    TransformerConfiguration,
    TransformerLayerConfiguration,
    UniversalConfiguration,
)
from regard.nn.positions import AddedPositions, scheme_of
from regard.nn.transformer import LayerOptions
from regard.nn.universal import Recurrence


def layer_options(configuration: TransformerLayerConfiguration, size: int) -> LayerOptions:
    """What each of its layers is made of, for states of that size."""
    scheme = None
    if isinstance(configuration, TransformerConfiguration):
        scheme = scheme_of(configuration.positions)
    return LayerOptions(
        size=size,
        heads=configuration.heads,
        key_heads=configuration.key_heads or None,
        hidden_size=configuration.feed_forward_size,
        activation=configuration.activation,
        norm=configuration.norm,
        dropout=configuration.dropout,
        attention_dropout=configuration.attention_dropout,
        feed_forward_dropout=configuration.feed_forward_dropout,
        position_scheme=scheme,
    )


def added_positions(configuration: TransformerConfiguration, size: int) -> AddedPositions:
    """What is added to the embeddings."""
    return AddedPositions(configuration.positions, size, configuration.maximum_positions)


def recurrence(configuration: UniversalConfiguration, size: int) -> Recurrence:
    """The steps of a Universal Transformer."""
    return Recurrence(
        size,
        configuration.steps,
        configuration.adaptive,
        configuration.halting_bias,
        configuration.halting_epsilon,
    )
