"""The attention of a recurrent decoder."""

from __future__ import annotations

from regard.attention import Attention
from regard.attention.scores import AdditiveScore
from regard.models.configuration import RecurrentDecoderConfiguration


def make_attention(configuration: RecurrentDecoderConfiguration, memory_size: int) -> Attention:
    """As configured, over a memory of that size.

    Raises:
        ValueError: sizes that cannot be joined.
    """
    chosen = configuration.attention
    location = chosen.score == "location"
    return Attention(
        configuration.size,
        memory_size,
        score=chosen.score,
        heads=chosen.heads,
        key_heads=chosen.key_heads or None,
        hidden_size=chosen.size,
        project=chosen.project,
        dropout=chosen.dropout,
        select=chosen.select,
        local=None if chosen.local == "none" else chosen.local,
        local_width=chosen.local_width,
        gate=chosen.gate,
        coverage=chosen.coverage,
        maximum_positions=chosen.maximum_positions if location else None,
    )


def is_bahdanaus(attention: Attention) -> bool:
    """Whether it is plain additive attention with one head over the states as they are."""
    return (
        isinstance(attention.score, AdditiveScore)
        and attention.plain
        and attention.heads == 1
        and attention.value_projection is None
    )
