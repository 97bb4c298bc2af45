"""What every source position would emit: log-probabilities without the big tensors.

For a step i with state part a_i and a source position j with part b_j (both projected),

    log e_ij = log softmax(W tanh(a_i + b_j) + bias)

which is ``[batch, steps, positions, vocabulary]``. Two sums of it are all that hard attention
needs: e of the token that came, and the mixture of all positions. Both work on tiles of steps and
positions, and their backward passes compute the tiles again. As in additive attention
(`regard.attention.kernels.additive`), ``tanh(a + b) = 1 - 2 r`` with ``r = 1 / (1 + exp(2a)
exp(2b))``; the 1 and the -2 go into the bias and the weight, so a tile needs one multiply-add, one
reciprocal, one matrix product and one exponential.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.attention.kernels.additive import is_small, reciprocal
from regard.attention.kernels.tiles import tile

#: Numbers of a tile's largest tensor: 2 MiB of float32.
TILE_ELEMENTS = 1 << 19
#: Logits up to this size need no shift before the exponential.
SMALL = 60.0

Slices = tuple[slice, slice, slice]


def chosen_emissions(
    states: Float[Tensor, "batch steps size"],
    source: Float[Tensor, "batch positions size"],
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, " vocabulary"],
    tokens: Int[Tensor, "batch steps"],
) -> tuple[Float[Tensor, "batch steps positions"], Float[Tensor, "batch steps positions"]]:
    """``log e_ij`` of each step's token, and the logarithm of what normalizes it.

    The second carries no gradient. In the backward pass, a (step, position) whose gradient is less
    than rounding of the largest one is passed over.
    """
    chosen, normalizer = _Chosen.apply(states, source, weight, bias, tokens)
    return chosen, normalizer


def mixed_emissions(
    weights: Float[Tensor, "batch steps positions"],
    states: Float[Tensor, "batch steps size"],
    source: Float[Tensor, "batch positions size"],
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, " vocabulary"],
) -> tuple[Float[Tensor, "batch steps vocabulary"], Float[Tensor, "batch steps positions"]]:
    """``log sum_j exp(weights_ij + log e_ij)`` over the vocabulary, and what normalizes each e_ij.

    ``weights`` are logarithms. The second result carries no gradient.
    """
    mixed, normalizer = _Mixed.apply(weights, states, source, weight, bias)
    return mixed, normalizer


def emissions_of(
    tokens: Int[Tensor, " batch"],
    states: Float[Tensor, "batch size"],
    source: Float[Tensor, "batch positions size"],
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, " vocabulary"],
    normalizer: Float[Tensor, "batch positions"],
) -> Float[Tensor, "batch positions"]:
    """``log e_j`` of one token a row, where what normalizes it is known."""
    hidden = torch.tanh(states[:, None] + source)
    rows = torch.nn.functional.embedding(tokens, weight)
    return torch.einsum("bjd,bd->bj", hidden, rows) + bias[tokens][:, None] - normalizer


class _Table(NamedTuple):
    """All parts of the table, ready for tiles.

    ``left`` and ``right`` are a and b, or their exponentials (``factored``); ``matrix`` is -2 W and
    ``shifted`` the bias with the sum of W's rows.
    """

    left: Float[Tensor, "batch steps size"]
    right: Float[Tensor, "batch positions size"]
    factored: bool
    matrix: Float[Tensor, "vocabulary size"]
    shifted: Float[Tensor, " vocabulary"]
    small: bool

    @classmethod
    def of(cls, states: Tensor, source: Tensor, weight: Tensor, bias: Tensor) -> _Table:
        precise = torch.promote_types(states.dtype, torch.float32)
        left, right = states.to(precise), source.to(precise)
        weight, bias = weight.to(precise), bias.to(precise)
        factored = is_small(left) and is_small(right)
        if factored:
            left, right = (2.0 * left).exp_(), (2.0 * right).exp_()
        largest = (weight.abs().sum(1) + bias.abs()).max()  # no tanh is more than 1
        shifted = bias + weight.sum(1)
        return cls(left, right, factored, -2.0 * weight, shifted, bool(largest < SMALL))

    def tiles(self, *, whole: bool = False) -> Iterator[Slices]:
        """Slices of rows, steps and positions; ``whole``: every tile has all positions."""
        (batch, steps, size), positions = self.left.shape, self.right.shape[1]
        room = max(1, TILE_ELEMENTS // max(size, self.matrix.shape[0]))
        if whole:
            tiling = tile(batch, steps, 1, max(1, room // positions))
            across = positions
        else:
            tiling = tile(batch, steps, positions, room)
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

    def normalize(self, logits: Float[Tensor, "pairs vocabulary"]) -> Float[Tensor, " pairs"]:
        """The logarithm of each row's sum of exponentials; the logits are then overwritten."""
        if self.small:
            return logits.exp_().sum(1).log_()
        largest = logits.amax(1)
        return logits.sub_(largest[:, None]).exp_().sum(1).log_().add_(largest)


class _Gradients:
    """What the backward passes add up over tiles."""

    def __init__(self, table: _Table) -> None:
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

    def finish(self, *like: Tensor) -> tuple[Tensor, ...]:
        """Those of states, source, weight and bias: of W, not of -2 W."""
        # tanh' = 4 r (1 - r), and -2 times -2 is the 4: one is in the matrix already.
        weight = self.weight.mul_(-2.0).add_(self.bias[:, None])
        found = (self.states.mul_(-2.0), self.source.mul_(-2.0), weight, self.bias)
        return tuple(one.to(other.dtype) for one, other in zip(found, like, strict=True))


class _Chosen(torch.autograd.Function):
    """``log e_ij`` of one token a step."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, source: Tensor, weight: Tensor, bias: Tensor, tokens: Tensor
    ) -> tuple[Tensor, Tensor]:
        table = _Table.of(states, source, weight, bias)
        chosen = table.left.new_empty(*states.shape[:2], source.shape[1])
        normalizer = torch.empty_like(chosen)
        for part in table.tiles():
            logits = table.logits(table.reciprocals(part).flatten(0, 2))
            ids = tokens[part[:2]][..., None].expand(chosen[part].shape).reshape(-1, 1)
            chosen[part] = logits.gather(1, ids).view(chosen[part].shape)
            normalizer[part] = table.normalize(logits).view(chosen[part].shape)
        ctx.save_for_backward(states, source, weight, bias, tokens, normalizer)
        ctx.mark_non_differentiable(normalizer)
        return chosen - normalizer, normalizer

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_chosen: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        *inputs, tokens, normalizer = ctx.saved_tensors
        table = _Table.of(*inputs)
        gradients = _Gradients(table)
        steps, positions = normalizer.shape[1:]
        to_states, to_source = gradients.states.flatten(0, 1), gradients.source.flatten(0, 1)
        left, right = table.left.flatten(0, 1), table.right.flatten(0, 1)
        outward = to_chosen.flatten()
        counted = outward.abs()
        least = counted.max() * (torch.finfo(outward.dtype).eps / positions)
        room = max(1, TILE_ELEMENTS // max(left.shape[1], len(table.matrix)))
        for pairs in (counted > least).nonzero().squeeze(1).split(room):
            of_step = pairs // positions
            of_source = of_step // steps * positions + pairs % positions
            r = reciprocal(left[of_step], right[of_source], factored=table.factored)
            to_logits = table.logits(r).sub_(normalizer.flatten()[pairs, None]).exp_()
            scale = outward[pairs, None]
            to_logits.mul_(-scale).scatter_add_(1, tokens.flatten()[of_step, None], scale)
            slope = gradients.through(to_logits, r)
            to_states.index_add_(0, of_step, slope)
            to_source.index_add_(0, of_source, slope)
        return (*gradients.finish(*inputs), None)


class _Mixed(torch.autograd.Function):
    """The mixture of all positions, over the vocabulary."""

    @staticmethod
    def forward(
        ctx: Any, weights: Tensor, states: Tensor, source: Tensor, weight: Tensor, bias: Tensor
    ) -> tuple[Tensor, Tensor]:
        table = _Table.of(states, source, weight, bias)
        mixed = table.left.new_empty(*states.shape[:2], len(weight))
        normalizer = table.left.new_empty(weights.shape)
        for part in table.tiles(whole=True):
            logits = table.logits(table.reciprocals(part).flatten(0, 2))
            shape = weights[part].shape
            normalizer[part] = table.normalize(logits.clone()).view(shape)
            joint = logits.view(*shape, -1).add_((weights[part] - normalizer[part])[..., None])
            mixed[part[:2]] = joint.logsumexp(2)
        ctx.save_for_backward(weights, states, source, weight, bias, mixed, normalizer)
        ctx.mark_non_differentiable(normalizer)
        return mixed, normalizer

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_mixed: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        weights, *inputs, mixed, normalizer = ctx.saved_tensors
        table = _Table.of(*inputs)
        gradients = _Gradients(table)
        to_weights = torch.empty_like(weights)
        for part in table.tiles(whole=True):
            steps = part[:2]
            r = table.reciprocals(part)
            shape = r.shape[:3]
            logs = table.logits(r.flatten(0, 2)).view(*shape, -1)
            logs.sub_(normalizer[part][..., None])
            probabilities = logs.exp()
            # Each position's share of the mixture, times the gradient of the mixture.
            shares = logs.add_(weights[part][..., None]).sub_(mixed[steps][:, :, None]).exp_()
            shares.mul_(to_mixed[steps][:, :, None])
            to_weights[part] = shares.sum(3)
            to_logits = shares.sub_(probabilities.mul_(to_weights[part][..., None]))
            slope = gradients.through(to_logits.flatten(0, 2), r.flatten(0, 2)).view(*shape, -1)
            gradients.states[steps] += slope.sum(2)
            gradients.source[part[0]] += slope.sum(1)
        return (to_weights, *gradients.finish(*inputs))
