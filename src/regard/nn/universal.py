"""What the steps of a Universal Transformer share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import coordinate_positions
from regard.nn.halting import Halting, Pondered, Tally
from regard.nn.positions import Start, vectors_from


@dataclass(frozen=True)
class Progress:
    """States between two steps, and, where steps are adaptive, where every position stands."""

    states: Float[Tensor, "batch positions size"]
    tally: Tally | None = None

    @property
    def halted(self) -> bool:
        """Whether no position goes on."""
        return self.tally is not None and not bool(self.tally.going.any())

    @property
    def output(self) -> Float[Tensor, "batch positions size"]:
        """What the stack gives."""
        return self.states if self.tally is None else self.tally.output

    def pondered(self, real: Bool[Tensor, "batch positions"] | None = None) -> Pondered | None:
        """How long each position took; None where all take as long."""
        return None if self.tally is None else self.tally.pondered(real)


class Recurrence(nn.Module):
    """The same layer step after step, over states marked with position and step.

    Dehghani et al. 2019, section 2.1 (EQUATIONS C4): before step t, ``P^t`` of
    `coordinate_positions` is added to the states. The number of steps is no part of the weights.

    Args:
        adaptive: ``none``, or a variant of `Halting`: then ``steps`` is the most there are.
    """

    def __init__(
        self, size: int, steps: int, adaptive: str, halting_bias: float, halting_epsilon: float
    ) -> None:
        super().__init__()
        self.size = size
        self.steps = steps
        self.halting: Halting | None = None
        if adaptive != "none":
            self.halting = Halting(size, adaptive, halting_bias, halting_epsilon)

    def begin(
        self,
        states: Float[Tensor, "batch positions size"],
        real: Bool[Tensor, "batch positions"] | None = None,
    ) -> Progress:
        """Before the first step; positions that are not real are not waited for."""
        return Progress(states, None if self.halting is None else self.halting.begin(states, real))

    def mark(
        self, states: Float[Tensor, "batch positions size"], step: int, start: Start = 1
    ) -> Float[Tensor, "batch positions size"]:
        """What step t reads: ``H^{t-1} + P^t``, positions counted from ``start``."""
        table = partial(
            coordinate_positions,
            size=self.size,
            step=step,
            device=states.device,
            dtype=states.dtype,
        )
        return states + vectors_from(start, states.shape[1], table)

    def after(
        self,
        progress: Progress,
        read: Float[Tensor, "batch positions size"],
        made: Float[Tensor, "batch positions size"],
        step: int,
    ) -> Progress:
        """One more step, which read one state and made another."""
        if self.halting is None or progress.tally is None:
            return Progress(made)
        states = made
        if self.halting.graves:
            states = torch.where(progress.tally.going[..., None], made, progress.states)
        tally = self.halting.after(progress.tally, read, made, last=step == self.steps)
        return Progress(states, tally)

    def settled(self, progress: Progress) -> bool:
        """Whether no step changes anything any more: all have halted, and keep their states."""
        return progress.halted and self.halting is not None and self.halting.graves


def while_going(
    looked: Iterable[tuple[Progress, Tensor | None]], steps: int
) -> Iterator[Float[Tensor, "batch heads positions keys"]]:
    """What positions attended to at each of ``steps`` steps, those that had halted at their last.

    looked: where every position stands after each step that was made, and what was attended to.
    """
    going, last, taken = None, None, 0
    for progress, weights in looked:
        assert weights is not None
        if going is not None and last is not None:
            weights = torch.where(going[:, None, :, None], weights, last)
        going = None if progress.tally is None else progress.tally.going
        last, taken = weights, taken + 1
        yield weights
    if last is not None:
        yield from [last] * (steps - taken)
