"""How scores become weights, and how one position is drawn from them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention.functional import hide, masked_softmax, weighted_sum
from regard.attention.sparse import entmax15, sparsemax

SELECTIONS = ("soft", "hard", "sparsemax", "entmax")


def masked_sparsemax(
    scores: Float[Tensor, "*batch positions"],
    mask: Bool[Tensor, "*batch positions"] | None = None,
) -> Float[Tensor, "*batch positions"]:
    """The point of the simplex nearest to the scores (Martins and Astudillo 2016, eq. 1).

    Weights far from the best are exactly 0. Masks and types as for ``masked_softmax``.
    """
    return _sparse(sparsemax, scores, mask)


def masked_entmax(
    scores: Float[Tensor, "*batch positions"],
    mask: Bool[Tensor, "*batch positions"] | None = None,
) -> Float[Tensor, "*batch positions"]:
    """Entmax with alpha 1.5, between softmax and sparsemax (Peters et al. 2019, eq. 11).

    ``weights = max(0, scores / 2 - tau)^2`` with the tau that makes them sum to 1. Masks and types
    as for ``masked_softmax``.
    """
    return _sparse(entmax15, scores, mask)


def weights_of(
    selection: str,
    scores: Float[Tensor, "*batch positions"],
    mask: Bool[Tensor, "*batch positions"] | None,
) -> Float[Tensor, "*batch positions"]:
    """Weights by the selection of that name; ``hard`` draws from those of the softmax."""
    if selection == "sparsemax":
        return masked_sparsemax(scores, mask)
    if selection == "entmax":
        return masked_entmax(scores, mask)
    return masked_softmax(scores, mask)


def draw(
    weights: Float[Tensor, "batch heads queries positions"],
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batch heads queries"]:
    """A position for every query: ``l ~ Categorical(weights)`` (Xu et al. 2015, eq. 8).

    A position of weight 0 is never drawn, unless all are: then it is the first.
    """
    race = torch.empty_like(weights, dtype=torch.promote_types(weights.dtype, torch.float32))
    race.exponential_(generator=generator).clamp_(min=torch.finfo(race.dtype).tiny)  # no 0 / 0
    return best(weights.detach() / race)


def best(
    weights: Float[Tensor, "batch heads queries positions"],
) -> Int[Tensor, "batch heads queries"]:
    """The position of the greatest weight, the first of several; 0 where there is none at all."""
    if weights.shape[-1] == 0:
        return torch.zeros(weights.shape[:-1], dtype=torch.int64, device=weights.device)
    return weights.argmax(-1)


def chosen_log_probability(
    log_weights: Float[Tensor, "batch heads queries positions"],
    chosen: Int[Tensor, "batch heads queries"],
) -> Float[Tensor, "batch heads queries"]:
    """That of the chosen position, in nats; 0 where nothing could be chosen."""
    if log_weights.shape[-1] == 0:
        return log_weights.sum(-1)
    found = log_weights.gather(-1, chosen[..., None])[..., 0]
    return torch.where(found > float("-inf"), found, 0.0)


def entropy(
    log_weights: Float[Tensor, "*batch positions"],
) -> Float[Tensor, "*batch"]:
    """``H = - sum_j alpha_j log alpha_j`` in nats, with 0 log 0 = 0, also in the gradient."""
    possible = log_weights > float("-inf")
    finite = torch.where(possible, log_weights, 0.0)
    return -torch.where(possible, finite.exp() * finite, 0.0).sum(-1)


def chosen_value(
    weights: Float[Tensor, "batch heads queries positions"],
    value: Float[Tensor, "batch value_heads positions size"],
    chosen: Int[Tensor, "batch heads queries"],
) -> Float[Tensor, "batch heads queries size"]:
    """The value at the chosen position, ``c_i = a_{l_i}``; 0 where its weight is 0."""
    if weights.shape[-1] == 0:
        return weighted_sum(weights, value)
    repeats = chosen.shape[1] // value.shape[1]
    value = value if repeats == 1 else value.repeat_interleave(repeats, dim=1)
    context = value.gather(2, chosen[..., None].expand(-1, -1, -1, value.shape[-1]))
    return torch.where(weights.gather(-1, chosen[..., None]) > 0, context, 0.0)


def _sparse(
    project: Callable[[Tensor], Tensor],
    scores: Float[Tensor, "*batch positions"],
    mask: Bool[Tensor, "*batch positions"] | None,
) -> Float[Tensor, "*batch positions"]:
    """The projection of scores that are moved so that the greatest of each row is 0."""
    if scores.shape[-1] == 0:
        return scores
    precise = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if mask is not None:
        precise = hide(precise, mask)
    weights = project(precise - precise.detach().amax(-1, keepdim=True))
    if mask is not None:
        weights = torch.where(mask, weights, 0.0)
    return weights.to(scores.dtype)
