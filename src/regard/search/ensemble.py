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

    @property
    def pondering(self) -> Float[Tensor, "rows 2"] | None:
        """What the members pondered over the last prediction, in the mean."""
        return _mean([state.pondering for state in self.states])

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
    members that have any, and so is what they pondered. Members read the same tokens; where some
    copy and others do not, these read what was never seen as UNKNOWN, and give it no probability.

    Args:
        members: models, each with ``encode``, ``pondering``, ``start``, ``step``,
            ``longest_source``, ``longest_target``, ``copies``, and, if it copies,
            ``closed_source`` and ``closed_target``.
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

    def pondering(self, memory: tuple[Any, ...]) -> Float[Tensor, "batch positions 2"] | None:
        """What the members pondered over each source position, in the mean."""
        pairs = zip(self.members, memory, strict=True)
        return _mean([member.pondering(each) for member, each in pairs])

    attention_layers = 0  # what they attend to is shown in the mean alone

    @property
    def attention_heads(self) -> int:
        """The most heads that any member has."""
        return max(each.attention_heads for each in self.members)

    def shown_attention(
        self,
        memory: tuple[Any, ...],
        inputs: Int[Tensor, "batch steps"],
        outputs: Int[Tensor, "batch steps"],
        mask: Bool[Tensor, "batch steps"],
    ) -> Float[Tensor, "batch steps source"] | None:
        """What the members show of given targets, in the mean."""
        given = closed = (inputs, outputs)
        if self._copying is not None:
            closed = (self._copying.closed_target(inputs), self._copying.closed_target(outputs))
        return _mean(
            [
                member.shown_attention(each, *(given if member.copies else closed), mask)
                for member, each in zip(self.members, memory, strict=True)
            ]
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
        return EnsembleStep(
            stacked.logsumexp(0) - math.log(len(steps)),
            EnsembleState(tuple(step.state for step in steps)),
            _mean([step.attention for step in steps]),
        )


def _least(limits: Iterable[int | None]) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _mean(given: Sequence[Tensor | None]) -> Tensor | None:
    """Over those that there are; None without any."""
    found = [tensor for tensor in given if tensor is not None]
    return torch.stack(found).mean(0) if found else None


def _widened(
    log_probabilities: Float[Tensor, "rows vocabulary"], width: int
) -> Float[Tensor, "rows width"]:
    """No probability for the ids that only others know."""
    missing = width - log_probabilities.shape[1]
    return pad(log_probabilities, (0, missing), value=-math.inf) if missing else log_probabilities
