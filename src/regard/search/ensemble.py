"""Several models that decode as one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


@dataclass(frozen=True)
class EnsembleState:
    """The state of every member, row for row."""

    states: tuple[Any, ...]

    def select(self, indices: Int[Tensor, " chosen"]) -> EnsembleState:
        """Any rows."""
        return EnsembleState(tuple(state.select(indices) for state in self.states))

    def reorder(self, indices: Int[Tensor, " rows"]) -> EnsembleState:
        """Rows that keep their source."""
        return EnsembleState(tuple(state.reorder(indices) for state in self.states))


class EnsembleStep(NamedTuple):
    """What one step of all members gives."""

    log_probabilities: Float[Tensor, "rows vocabulary"]
    state: EnsembleState
    attention: Float[Tensor, "rows source"] | None


class Ensemble:
    """``p(y) = 1/n sum_k p_k(y)`` at every step: the mean of the members' probabilities.

    Computed from log-probabilities, without leaving the logarithm. Attention is the mean over the
    members that have any. Members read the same tokens.

    Args:
        members: models, each with ``encode``, ``start``, ``step`` and ``longest_source``.
    """

    def __init__(self, members: Sequence[Any]) -> None:
        if not members:
            raise ValueError("an ensemble needs at least one model")
        self.members = tuple(members)

    @property
    def longest_source(self) -> int | None:
        """What all members can read, in tokens; None = any length."""
        limits = [each.longest_source for each in self.members]
        return min((limit for limit in limits if limit is not None), default=None)

    def parameters(self) -> Iterator[nn.Parameter]:
        """Those of every member."""
        for member in self.members:
            yield from member.parameters()

    def encode(
        self, source: Int[Tensor, "batch positions"], mask: Bool[Tensor, "batch positions"]
    ) -> tuple[Any, ...]:
        """The memory of every member."""
        return tuple(member.encode(source, mask) for member in self.members)

    def start(self, memory: tuple[Any, ...]) -> EnsembleState:
        """The states before the first token."""
        pairs = zip(self.members, memory, strict=True)
        return EnsembleState(tuple(member.start(each) for member, each in pairs))

    def step(self, tokens: Int[Tensor, " rows"], state: EnsembleState) -> EnsembleStep:
        """Every member reads the tokens; the mean of what they predict."""
        pairs = zip(self.members, state.states, strict=True)
        steps = [member.step(tokens, each) for member, each in pairs]
        stacked = torch.stack([step.log_probabilities for step in steps])
        shown = [step.attention for step in steps if step.attention is not None]
        return EnsembleStep(
            stacked.logsumexp(0) - math.log(len(steps)),
            EnsembleState(tuple(step.state for step in steps)),
            torch.stack(shown).mean(0) if shown else None,
        )
