"""The attention of decoders with one state a step."""

from __future__ import annotations

from regard.attention import Attention
from regard.attention.scores import AdditiveScore
from regard.models.configuration import (
    AttentionConfiguration,
    HardAttentionDecoderConfiguration,
    HardAttentionScoreConfiguration,
    RecurrentDecoderConfiguration,
)


def make_attention(configuration: RecurrentDecoderConfiguration, memory_size: int) -> Attention:
    """As configured, over a memory of that size.

    Raises:
        ValueError: sizes that cannot be joined.
    """
    chosen = configuration.attention
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
        maximum_positions=_most_positions(chosen),
    )


def make_hard_attention(
    configuration: HardAttentionDecoderConfiguration, memory_size: int
) -> Attention:
    """Scores alone: what is attended to is never summed into a context."""
    chosen = configuration.attention
    return Attention(
        configuration.size,
        memory_size,
        score=chosen.score,
        hidden_size=chosen.size,
        project=("query", "key") if chosen.project else chosen.project,
        maximum_positions=_most_positions(chosen),
    )


def _most_positions(chosen: AttentionConfiguration | HardAttentionScoreConfiguration) -> int | None:
    return chosen.maximum_positions if chosen.score == "location" else None


def is_bahdanaus(attention: Attention) -> bool:
    """Whether it is plain additive attention with one head over the states as they are."""
    return (
        isinstance(attention.score, AdditiveScore)
        and attention.plain
        and attention.heads == 1
        and attention.value_projection is None
    )
