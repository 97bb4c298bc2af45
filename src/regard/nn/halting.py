"""Adaptive computation time: each position takes as many steps as it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.linear import glorot_linear


@dataclass(frozen=True)
class Pondered:
    """How long each position took.

    Attributes:
        steps: N, steps that each position took, the one at which it halted included.
        cost: ``N + R``, which is what pondering costs; only the remainder R has a gradient.
        real: True where there is a position to count; None = everywhere.
    """

    steps: Int[Tensor, "batch positions"]
    cost: Float[Tensor, "batch positions"]
    real: Bool[Tensor, "batch positions"] | None = None

    def among(self, real: Bool[Tensor, "batch positions"]) -> Pondered:
        """The same with other positions counted."""
        return replace(self, real=real)

    @property
    def pairs(self) -> Float[Tensor, "batch positions 2"]:
        """N and N + R of each position, in at least float32."""
        precise = torch.promote_types(self.cost.dtype, torch.float32)
        return torch.stack([self.steps.to(precise), self.cost.to(precise)], dim=-1)

    def moved(
        self, places: Int[Tensor, "batch others"], real: Bool[Tensor, "batch others"]
    ) -> Pondered:
        """As many positions as ``places``: i is what ``places[i]`` was; nothing where not real."""
        return Pondered(
            self.steps.gather(1, places).masked_fill(~real, 0),
            self.cost.gather(1, places).masked_fill(~real, 0.0),
            real,
        )

    def select(self, indices: Int[Tensor, " rows"]) -> Pondered:
        """Any rows."""
        return Pondered(
            self.steps.index_select(0, indices),
            self.cost.index_select(0, indices),
            None if self.real is None else self.real.index_select(0, indices),
        )

    def mean(self) -> Float[Tensor, ""]:
        """The mean cost of the real positions."""
        return self.cost.mean() if self.real is None else self.cost[self.real].mean()


@dataclass(frozen=True)
class Tally:
    """Where every position stands after some steps.

    Attributes:
        output: the weighted sum of its states so far.
        total: its probabilities of halting so far, added up.
        steps, remainder: N and R so far.
        going: True until it has halted.
        weight: of the last step in its output.
    """

    output: Float[Tensor, "batch positions size"]
    total: Float[Tensor, "batch positions"]
    steps: Int[Tensor, "batch positions"]
    remainder: Float[Tensor, "batch positions"]
    going: Bool[Tensor, "batch positions"]
    weight: Float[Tensor, "batch positions"]

    def pondered(self, real: Bool[Tensor, "batch positions"] | None = None) -> Pondered:
        """How long each position took."""
        return Pondered(self.steps, self.steps + self.remainder, real)


class Halting(nn.Module):
    """``h^t = sigma(w . state + b)``: how sure a position is, at step t, to have thought enough.

    ``graves`` (Graves 2016, section 2.1; EQUATIONS C5): of the state H^t that step t made. With
    N the first step at which the sum of h reaches ``1 - epsilon``, or the last one allowed, and
    the remainder ``R = 1 - sum_{t<N} h^t``, the output is ``sum_{t<N} h^t H^t + R H^N``: weights
    that add up to 1. A position that has halted keeps its state.

    ``tensor2tensor`` is what the Universal Transformer's authors released: h is of the state that
    step t reads; the output of each step is ``w H^t + (1 - w) before``, so that for h = .6 the
    weights are .36 and .4; the last step allowed gets no remainder; and states of positions that
    have halted go on changing for the others.

    Args:
        bias: what b starts at. Where it is not well below 0 training soon halts everywhere after
            about two steps, and stays there.
    """

    def __init__(self, size: int, variant: str, bias: float, epsilon: float) -> None:
        super().__init__()
        self.linear = glorot_linear(size, 1)
        nn.init.constant_(self.linear.bias, bias)
        self.graves = variant == "graves"
        self.epsilon = epsilon

    def begin(
        self,
        states: Float[Tensor, "batch positions size"],
        real: Bool[Tensor, "batch positions"] | None = None,
    ) -> Tally:
        """Before the first step. Positions that are not real are not waited for."""
        nothing = states.new_zeros(states.shape[:2])
        going = torch.ones_like(nothing, dtype=torch.bool) if real is None else real
        zeros = torch.zeros_like(states)
        return Tally(zeros, nothing, nothing.long(), nothing, going, nothing)

    def after(
        self,
        tally: Tally,
        read: Float[Tensor, "batch positions size"],
        made: Float[Tensor, "batch positions size"],
        *,
        last: bool,
    ) -> Tally:
        """One more step, which read one state and made another."""
        probability = self.linear(made if self.graves else read).squeeze(-1).sigmoid()
        total = tally.total + probability
        full = total >= 1 - self.epsilon if self.graves else total > 1 - self.epsilon
        stops = full | last if self.graves else full
        rest = 1 - tally.total
        weight = torch.where(stops, rest, probability)
        weight = torch.where(tally.going, weight, torch.zeros_like(weight))
        output = tally.output if self.graves else tally.output * (1 - weight[..., None])
        return Tally(
            output + weight[..., None] * made,
            torch.where(tally.going & ~stops, total, tally.total),
            tally.steps + tally.going.long(),
            torch.where(tally.going & stops, rest, tally.remainder),
            tally.going & ~stops,
            weight,
        )
