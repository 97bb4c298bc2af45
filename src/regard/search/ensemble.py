"""Several models that decode as one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad


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
    members that have any. Members read the same tokens; where some copy and others do not, these
    read what was never seen as UNKNOWN, and give it no probability.

    Args:
        members: models, each with ``encode``, ``start``, ``step``, ``longest_source``,
            ``longest_target``, ``copies``, and, if it copies, ``closed_source`` and
            ``closed_target``.
    """

    def __init__(self, members: Sequence[Any]) -> None:
        if not members:
            raise ValueError("an ensemble needs at least one model")
        self.members = tuple(members)
        self._copying = next((each for each in self.members if each.copies), None)

    @property
    def longest_source(self) -> int | None:
        """What all members can read, in tokens; None = any length."""
        return _least(each.longest_source for each in self.members)

    @property
    def longest_target(self) -> int | None:
        """What all members can write, in tokens; None = any length."""
        return _least(each.longest_target for each in self.members)

    @property
    def copies(self) -> bool:
        """Whether any member copies."""
        return self._copying is not None

    def parameters(self) -> Iterator[nn.Parameter]:
        """Those of every member."""
        for member in self.members:
            yield from member.parameters()

    def encode(
        self, source: Int[Tensor, "batch positions"], mask: Bool[Tensor, "batch positions"]
    ) -> tuple[Any, ...]:
        """The memory of every member."""
        closed = source if self._copying is None else self._copying.closed_source(source)
        return tuple(
            member.encode(source if member.copies else closed, mask) for member in self.members
        )

    def start(self, memory: tuple[Any, ...]) -> EnsembleState:
        """The states before the first token."""
        pairs = zip(self.members, memory, strict=True)
        return EnsembleState(tuple(member.start(each) for member, each in pairs))

    def step(self, tokens: Int[Tensor, " rows"], state: EnsembleState) -> EnsembleStep:
        """Every member reads the tokens; the mean of what they predict."""
        closed = tokens if self._copying is None else self._copying.closed_target(tokens)
        pairs = zip(self.members, state.states, strict=True)
        steps = [member.step(tokens if member.copies else closed, each) for member, each in pairs]
        width = max(step.log_probabilities.shape[1] for step in steps)
        stacked = torch.stack([_widened(step.log_probabilities, width) for step in steps])
        shown = [step.attention for step in steps if step.attention is not None]
        return EnsembleStep(
            stacked.logsumexp(0) - math.log(len(steps)),
            EnsembleState(tuple(step.state for step in steps)),
            torch.stack(shown).mean(0) if shown else None,
        )


def _least(limits: Iterable[int | None]) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _widened(
    log_probabilities: Float[Tensor, "rows vocabulary"], width: int
) -> Float[Tensor, "rows width"]:
    """No probability for the ids that only others know."""
    missing = width - log_probabilities.shape[1]
    return pad(log_probabilities, (0, missing), value=-math.inf) if missing else log_probabilities
