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

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.attention.kernels.additive import reciprocal
from regard.nn.kernels.emission_table import (
    EmissionSource,
    Gradients,
    Table,
    mix,
    normalize,
)


def chosen_emissions(
    states: Float[Tensor, "batch steps size"],
    source: EmissionSource,
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, " vocabulary"],
    tokens: Int[Tensor, "batch steps"],
) -> tuple[Float[Tensor, "batch steps positions"], Float[Tensor, "batch steps positions"]]:
    """``log e_ij`` of each step's token, and the logarithm of what normalizes it.

    The second carries no gradient. In the backward pass, a (step, position) whose gradient is less
    than rounding of the largest one is passed over.
    """
    chosen, normalizer = _Chosen.apply(states, *source, weight, bias, tokens)
    return chosen, normalizer


def mixed_emissions(
    weights: Float[Tensor, "batch steps positions"],
    states: Float[Tensor, "batch steps size"],
    source: EmissionSource,
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, " vocabulary"],
) -> tuple[Float[Tensor, "batch steps vocabulary"], Float[Tensor, "batch steps positions"]]:
    """``log sum_j exp(weights_ij + log e_ij)`` over the vocabulary, and what normalizes each e_ij.

    ``weights`` are logarithms. The second result carries no gradient.
    """
    mixed, normalizer = _Mixed.apply(weights, states, *source, weight, bias)
    return mixed, normalizer


def emissions_of(
    tokens: Int[Tensor, " batch"],
    states: Float[Tensor, "batch size"],
    source: EmissionSource,
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, " vocabulary"],
    normalizer: Float[Tensor, "batch positions"],
) -> Float[Tensor, "batch positions"]:
    """``log e_j`` of one token a row, where what normalizes it is known.

    Where gradients are wanted it is computed again: it has one too.
    """
    if torch.is_grad_enabled():
        chosen, _ = chosen_emissions(states[:, None], source, weight, bias, tokens[:, None])
        return chosen[:, 0]
    table = Table.of(states[:, None], *source, weight, bias)
    rows = torch.nn.functional.embedding(tokens, weight)[:, :, None]
    everything = slice(None)
    r = table.reciprocals((everything, everything, everything))[:, 0]
    logits = torch.bmm(r, rows.to(r.dtype)).squeeze(2).mul_(-2.0)
    return logits.add_(table.shifted[tokens][:, None]).sub_(normalizer)


class _Chosen(torch.autograd.Function):
    """``log e_ij`` of one token a step."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        source: Tensor,
        exponential: Any,
        weight: Tensor,
        bias: Tensor,
        tokens: Tensor,
    ) -> tuple[Tensor, Tensor]:
        table = Table.of(states, source, exponential, weight, bias)
        chosen = table.left.new_empty(*states.shape[:2], source.shape[1])
        normalizer = torch.empty_like(chosen)
        for part in table.tiles():
            logits = table.logits(table.reciprocals(part).flatten(0, 2))
            ids = tokens[part[:2]][..., None].expand(chosen[part].shape).reshape(-1, 1)
            chosen[part] = logits.gather(1, ids).view(chosen[part].shape)
            normalizer[part] = normalize(logits).view(chosen[part].shape)
        ctx.save_for_backward(states, source, exponential, weight, bias, tokens, normalizer)
        ctx.mark_non_differentiable(normalizer)
        return chosen - normalizer, normalizer

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_chosen: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        *inputs, tokens, normalizer = ctx.saved_tensors
        table = Table.of(*inputs)
        gradients = Gradients(table)
        steps, positions = normalizer.shape[1:]
        to_states, to_source = gradients.states.flatten(0, 1), gradients.source.flatten(0, 1)
        left, right = table.left.flatten(0, 1), table.right.flatten(0, 1)
        outward = to_chosen.flatten()
        counted = outward.abs()
        least = counted.max() * (torch.finfo(outward.dtype).eps / positions)
        for pairs in (counted > least).nonzero().squeeze(1).split(table.room):
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
        ctx: Any,
        weights: Tensor,
        states: Tensor,
        source: Tensor,
        exponential: Any,
        weight: Tensor,
        bias: Tensor,
    ) -> tuple[Tensor, Tensor]:
        table = Table.of(states, source, exponential, weight, bias)
        mixed = table.left.new_empty(*states.shape[:2], len(weight))
        normalizer = table.left.new_empty(weights.shape)
        for part in table.tiles(whole=True):
            logits = table.logits(table.reciprocals(part).flatten(0, 2))
            given = weights[part]
            mixture, sums = mix(given.flatten(0, 1), logits)
            mixed[part[:2]] = mixture.view(*given.shape[:2], -1)
            normalizer[part] = sums.view(given.shape)
        ctx.save_for_backward(weights, states, source, exponential, weight, bias, mixed, normalizer)
        ctx.mark_non_differentiable(normalizer)
        return mixed, normalizer

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_mixed: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        weights, *inputs, mixed, normalizer = ctx.saved_tensors
        table = Table.of(*inputs)
        gradients = Gradients(table)
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
