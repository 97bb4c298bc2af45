"""How the configuration of a Transformer becomes its parts."""

from __future__ import annotations

from regard.models.configuration import TransformerConfiguration
from regard.nn.positions import AddedPositions, scheme_of
from regard.nn.transformer import LayerOptions


def layer_options(configuration: TransformerConfiguration, size: int) -> LayerOptions:
    """What each of its layers is made of, for states of that size."""
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
        position_scheme=scheme_of(configuration.positions),
    )


def added_positions(configuration: TransformerConfiguration, size: int) -> AddedPositions:
    """What is added to the embeddings."""
    return AddedPositions(configuration.positions, size, configuration.maximum_positions)
