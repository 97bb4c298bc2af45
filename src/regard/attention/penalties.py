"""What can be added to a loss to shape the weights."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Weights = Float[Tensor, "batch heads queries positions"]


def doubly_stochastic_penalty(
    weights: Weights,
    query_mask: Bool[Tensor, "batch queries"] | None = None,
    key_mask: Bool[Tensor, "batch positions"] | None = None,
) -> Float[Tensor, " batch"]:
    """``sum_j (1 - sum_i alpha_ij)^2``: each place is to get about as much attention as any other.

    Xu et al. 2015, eq. 14 (EQUATIONS A11), for each example; the mean over heads. What is padding
    among the queries or the positions counts for nothing. The paper adds it times lambda = 1.

    >>> alpha = torch.tensor([[[[0.5, 0.5], [0.9, 0.1]]]])
    >>> round(doubly_stochastic_penalty(alpha).item(), 6)
    0.32
    """
    seen = _real_queries(weights, query_mask).sum(2)
    lack = (1.0 - seen).square()
    if key_mask is not None:
        lack = torch.where(key_mask[:, None], lack, 0.0)
    return lack.sum(-1).mean(1)


def alignment_loss(
    weights: Weights,
    alignment: Float[Tensor, "batch queries positions"],
    query_mask: Bool[Tensor, "batch queries"] | None = None,
) -> Float[Tensor, ""]:
    """Cross-entropy between given alignments and the mean weights of all heads, in nats.

    ``- sum_j g_ij log alpha_ij``, the mean over the queries i that have a link at all; the links of
    a query share its mass evenly (Mi et al. 2016, supervised attention). 0 when nothing is linked.

    Args:
        alignment: 1 (or any weight) where query i belongs to position j, else 0.
    """
    mean = weights.mean(1)
    mean = mean.to(torch.promote_types(mean.dtype, torch.float32))
    total = alignment.sum(-1)
    linked = total > 0
    if query_mask is not None:
        linked = linked & query_mask
    share = alignment / torch.where(total > 0, total, 1.0)[..., None]
    smallest = torch.finfo(mean.dtype).tiny
    surprise = -(share * mean.clamp(min=smallest).log()).sum(-1)
    return torch.where(linked, surprise, 0.0).sum() / linked.sum().clamp(min=1)


def coverage_loss(
    weights: Weights,
    query_mask: Bool[Tensor, "batch queries"] | None = None,
) -> Float[Tensor, " batch"]:
    """``sum_i sum_j min(alpha_ij, sum_{i' < i} alpha_i'j)``: looking twice costs.

    See et al. 2017, eq. 12, for each example; the mean over heads.
    """
    real = _real_queries(weights, query_mask)
    before = real.cumsum(2) - real
    return torch.minimum(real, before).sum((2, 3)).mean(1)


def _real_queries(weights: Weights, query_mask: Bool[Tensor, "batch queries"] | None) -> Weights:
    precise = weights.to(torch.promote_types(weights.dtype, torch.float32))
    return precise if query_mask is None else torch.where(query_mask[:, None, :, None], precise, 0)
