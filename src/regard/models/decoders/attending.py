"""The attention of decoders with one state a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import Attention
from regard.models.configuration import (
    AttentionConfiguration,
    HardAttentionDecoderConfiguration,
    HardAttentionScoreConfiguration,
    RecurrentDecoderConfiguration,
)
from regard.models.decoders.decoding import Chosen
from regard.models.decoders.recurrent_state import RecurrentState
from regard.nn.randomness import generator


class Look(NamedTuple):
    """What some steps read of the source.

    weights: of each head, or their logarithms; None if not asked for. chosen: what was drawn.
    """

    context: Float[Tensor, "batch steps context"]
    weights: Float[Tensor, "batch heads steps source"] | None = None
    chosen: Chosen | None = None


def look(
    attention: Attention,
    queries: Float[Tensor, "batch steps size"],
    state: RecurrentState,
    need_weights: bool | Literal["log"],
) -> Look:
    """Attend from the steps that come after ``state``.

    In training, hard attention draws, unless the state has it take expectations.
    """
    places = None
    if attention.placed:
        places = torch.arange(queries.shape[1], device=queries.device) + state.position
    assert state.source is not None
    if attention.selection == "hard" and attention.training and not state.expectation:
        drawn = attention.sample(
            queries,
            state.source,
            positions=places,
            coverage=state.coverage,
            generator=generator(),
        )
        chosen = Chosen(drawn.log_probability, drawn.entropy)
        return Look(drawn.context, drawn.weights if need_weights else None, chosen)
    attended = attention(
        queries,
        state.source,
        positions=places,
        coverage=state.coverage,
        need_weights=need_weights,
        expectation=state.expectation,
    )
    return Look(attended.context, attended.weights)


def join_looks(looks: Sequence[Look]) -> Look:
    """What was read step after step."""
    weights = [each.weights for each in looks if each.weights is not None]
    chosen = [each.chosen for each in looks if each.chosen is not None]
    joined = None
    if chosen:
        parts = zip(*chosen, strict=True)
        joined = Chosen(*(torch.cat(part, dim=2) for part in parts))
    return Look(
        torch.cat([each.context for each in looks], dim=1),
        torch.cat(weights, dim=2) if weights else None,
        joined,
    )


def takes_expectation(attention: Attention | None, chosen: AttentionConfiguration) -> bool:
    """Whether hard attention is to take expectations for a whole batch: in training, by a coin."""
    if attention is None or attention.selection != "hard":
        return False
    if not attention.training:
        return chosen.hard_use == "expectation"
    return float(torch.rand((), generator=generator())) < chosen.hard_expectation


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
