"""What attention adds to the loss of a batch: a penalty, or the rest of hard attention's bound."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention import alignment_loss, doubly_stochastic_penalty
from regard.data.batches import Batch
from regard.models.decoders.decoding import Chosen


class AttentionCosts(NamedTuple):
    """What weighs how much.

    doubly_stochastic: lambda of ``sum_j (1 - sum_i alpha_ij)^2`` (Xu et al. 2015, eq. 14; A11).
    supervision: lambda of ``- sum_j g_ij log alpha_ij``, where links are given (Mi et al. 2016).
    reward, entropy: lambda_r and lambda_e of hard attention (section 4.1 and eq. 13; A12).
    baseline: b. None = it is not known yet, and no reward is given.
    """

    doubly_stochastic: float = 0.0
    supervision: float = 0.0
    reward: float = 0.0
    entropy: float = 0.0
    baseline: float | None = None

    def weigh(self, batch: Batch) -> bool:
        """Whether what is attended to costs anything in itself."""
        return self.doubly_stochastic > 0 or (self.supervision > 0 and batch.links is not None)


NO_COSTS = AttentionCosts()


def penalty(
    weights: Float[Tensor, "batch steps source"], batch: Batch, costs: AttentionCosts
) -> Float[Tensor, ""]:
    """What all examples pay, by the number of their tokens: in step with the mean loss."""
    paid = weights.new_zeros(())
    if costs.doubly_stochastic:
        each = doubly_stochastic_penalty(weights[:, None], batch.mask, batch.source_mask)
        paid = paid + costs.doubly_stochastic * each.sum()
    if costs.supervision and batch.links is not None:
        linked = (batch.links.sum(-1) > 0).sum()
        mean = alignment_loss(weights[:, None], batch.links, batch.mask)
        paid = paid + costs.supervision * linked * mean
    return paid / batch.mask.sum()


def log_likelihoods(
    of_tokens: Float[Tensor, " tokens"], mask: Bool[Tensor, "batch steps"]
) -> Float[Tensor, " batch"]:
    """``log p(y | l)`` of each example, from those of its real tokens, row by row."""
    rows = mask.nonzero()[:, 0]
    return of_tokens.new_zeros(mask.shape[0]).index_add(0, rows, of_tokens)


def surrogate(
    chosen: Chosen,
    log_likelihood: Float[Tensor, " batch"],
    mask: Bool[Tensor, "batch steps"],
    costs: AttentionCosts,
) -> Float[Tensor, ""]:
    """Its gradient is minus that part of the bound's which does not pass through ``log p(y | l)``.

    ``lambda_r (log p(y | l) - b) grad log p(l) + lambda_e grad H[l]``, summed over the examples, by
    the number of their tokens. ``log p(l)`` and ``H`` are sums over steps and heads.
    """
    real = mask[:, None].expand_as(chosen.entropy)
    entropy = torch.where(real, chosen.entropy, 0.0).sum()
    bound = costs.entropy * entropy
    if costs.baseline is not None:
        log_probability = torch.where(real, chosen.log_probability, 0.0).sum((1, 2))
        reward = costs.reward * (log_likelihood.detach() - costs.baseline)
        bound = bound + (reward * log_probability).sum()
    return -bound / mask.sum()
