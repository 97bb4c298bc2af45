"""The table of what every source position would emit, a tile at a time.

See `regard.nn.kernels.emission`, whose sums over it are all that is wanted of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.kernels.additive import is_small, reciprocal
from regard.attention.kernels.tiles import tile

#: Numbers of a tile's largest tensor: 2 MiB of float32.
TILE_ELEMENTS = 1 << 19
#: Logits no larger than this need no shift: far from where float32 ends, e^87.
SMALL = 30.0

Slices = tuple[slice, slice, slice]


class EmissionSource(NamedTuple):
    """The source's part of the table, prepared once.

    exponential: ``exp(2 b_j)``; None where it, or its product with a state's, could overflow.
    """

    part: Float[Tensor, "batch positions size"]
    exponential: Float[Tensor, "batch positions size"] | None

    @classmethod
    def of(cls, part: Float[Tensor, "batch positions size"]) -> EmissionSource:
        """Projected positions, and what is computed of them once and for all."""
        plain = part.detach()
        precise = plain.dtype in (torch.float32, torch.float64)
        return cls(part, (2.0 * plain).exp_() if precise and is_small(plain) else None)

    def select(self, indices: Int[Tensor, " rows"]) -> EmissionSource:
        """Any rows."""
        rest = self.exponential
        return EmissionSource(
            self.part.index_select(0, indices),
            None if rest is None else rest.index_select(0, indices),
        )


class Table(NamedTuple):
    """All parts of the table, ready for tiles.

    ``left`` and ``right`` are a and b, or their exponentials (``factored``); ``matrix`` is -2 W and
    ``shifted`` the bias with the sum of W's rows.
    """

    left: Float[Tensor, "batch steps size"]
    right: Float[Tensor, "batch positions size"]
    factored: bool
    matrix: Float[Tensor, "vocabulary size"]
    shifted: Float[Tensor, " vocabulary"]

    @classmethod
    def of(
        cls, states: Tensor, part: Tensor, exponential: Tensor | None, weight: Tensor, bias: Tensor
    ) -> Table:
        precise = torch.promote_types(states.dtype, torch.float32)
        left, weight, bias = states.to(precise), weight.to(precise), bias.to(precise)
        factored = exponential is not None and is_small(left)
        left, right = (2.0 * left).exp_() if factored else left, part.to(precise)
        if factored:
            assert exponential is not None
            right = exponential.to(precise)
        return cls(left, right, factored, -2.0 * weight, bias + weight.sum(1))

    @property
    def room(self) -> int:
        """How many pairs of a step and a position a tile may have."""
        return max(1, TILE_ELEMENTS // max(self.matrix.shape))

    def tiles(self, *, whole: bool = False) -> Iterator[Slices]:
        """Slices of rows, steps and positions; ``whole``: every tile has all positions."""
        (batch, steps, _), positions = self.left.shape, self.right.shape[1]
        if whole:
            tiling = tile(batch, steps, 1, max(1, self.room // positions))
            across = positions
        else:
            tiling = tile(batch, steps, positions, self.room)
            across = tiling.positions
        for row in range(0, batch, tiling.rows):
            for position in range(0, positions, across):
                for step in range(0, steps, tiling.queries):
                    yield (
                        slice(row, row + tiling.rows),
                        slice(step, step + tiling.queries),
                        slice(position, position + across),
                    )

    def reciprocals(self, part: Slices) -> Float[Tensor, "rows steps positions size"]:
        """r of a tile."""
        rows, steps, positions = part
        left, right = self.left[rows, steps, None], self.right[rows, None, positions]
        return reciprocal(left, right, factored=self.factored)

    def logits(self, r: Float[Tensor, "pairs size"]) -> Float[Tensor, "pairs vocabulary"]:
        """W tanh(a + b) + bias."""
        return torch.addmm(self.shifted, r, self.matrix.t())


def normalize(logits: Float[Tensor, "pairs vocabulary"]) -> Float[Tensor, " pairs"]:
    """The logarithm of each row's sum of exponentials; the logits are overwritten."""
    if _are_small(logits):
        return logits.exp_().sum(1).log_()
    return logits.logsumexp(1)


def mix(
    weights: Float[Tensor, "steps positions"], logits: Float[Tensor, "pairs vocabulary"]
) -> tuple[Float[Tensor, "steps vocabulary"], Float[Tensor, " pairs"]]:
    """The mixture of each step, and what normalizes its parts; the logits are overwritten.

    Exponentials of small logits are summed by a matrix product: what a weight of less than e^-87
    loses there is nothing beside what is left.
    """
    if _are_small(logits):
        sums = logits.exp_().sum(1).log_()
        shares = (weights - sums.view(weights.shape)).exp_()
        mixture = torch.bmm(shares[:, None], logits.view(*weights.shape, -1))
        return mixture.squeeze(1).log_(), sums
    sums = logits.logsumexp(1)
    joint = logits.view(*weights.shape, -1).add_((weights - sums.view(weights.shape))[..., None])
    return joint.logsumexp(1), sums


def _are_small(logits: Float[Tensor, "pairs vocabulary"]) -> bool:
    if not logits.numel():
        return True
    lowest, highest = torch.aminmax(logits)
    return bool(highest <= SMALL) and bool(lowest >= -SMALL)


class Gradients:
    """What the backward passes add up over tiles."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.states = torch.zeros_like(table.left)
        self.source = torch.zeros_like(table.right)
        self.weight = torch.zeros_like(table.matrix)
        self.bias = torch.zeros_like(table.shifted)

    def through(
        self, to_logits: Float[Tensor, "pairs vocabulary"], r: Float[Tensor, "pairs size"]
    ) -> Float[Tensor, "pairs size"]:
        """From the logits to weight and bias (added), and to a quarter of a + b (returned).

        ``r`` is then overwritten.
        """
        self.weight.addmm_(to_logits.t(), r)
        self.bias.add_(to_logits.sum(0))
        slope = r.addcmul_(r, r, value=-1.0)  # r (1 - r), a quarter of 1 - tanh^2
        return slope.mul_(to_logits @ self.table.matrix)

    def finish(
        self, states: Tensor, source: Tensor, _: Any, weight: Tensor, bias: Tensor
    ) -> tuple[Tensor | None, ...]:
        """Those of the kernels' inputs, None for the exponentials: of W, not of -2 W."""
        # tanh' = 4 r (1 - r), and -2 times -2 is the 4: one is in the matrix already.
        to_weight = self.weight.mul_(-2.0).add_(self.bias[:, None])
        return (
            self.states.mul_(-2.0).to(states.dtype),
            self.source.mul_(-2.0).to(source.dtype),
            None,
            to_weight.to(weight.dtype),
            self.bias.to(bias.dtype),
        )
