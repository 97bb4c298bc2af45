"""Lengths: how long a hypothesis may be, what its length does to its rank, and when to stop.

There is one formula. A hypothesis of `length` tokens, the end symbol included, is ranked by

    normalized = score / length**length_penalty

with `score <= 0` its natural-log probability.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.errors import UserError
from regard.search.configuration import SearchConfiguration


def length_limits(
    lengths: Int[Tensor, "sentences"],
    configuration: SearchConfiguration,
    maximum_length: int | None = None,
) -> Int[Tensor, "sentences"]:
    """Most tokens, the end symbol included, of a hypothesis for each source length.

    `int(ratio * length) + extra`, at least one token, and enough for the minimum length; then at
    most `maximum_length`, the decoder's own limit. Raises UserError where that contradicts the
    minimum length.
    """
    shortest = configuration.minimum_length + 1
    if maximum_length is not None and maximum_length < shortest:
        raise UserError(
            f"search.minimum_length is {configuration.minimum_length}, but this model writes at "
            f"most {maximum_length} tokens, the end symbol included; set it below that"
        )
    limits = (lengths.double() * configuration.maximum_length_ratio).long()
    limits = limits + configuration.maximum_length_extra
    return limits.clamp(min=shortest, max=maximum_length)


def normalize(
    scores: Float[Tensor, "*shape"], lengths: Int[Tensor, "*shape"], length_penalty: float
) -> Float[Tensor, "*shape"]:
    """`score / length**length_penalty` in float64; no tokens at all count as one."""
    return scores.double() / lengths.clamp(min=1).double() ** length_penalty


def best_reachable(
    scores: Float[Tensor, "sentences"],
    step: int,
    limits: Int[Tensor, "sentences"],
    configuration: SearchConfiguration,
) -> Float[Tensor, "sentences"]:
    """The highest normalized score that a hypothesis of `step` tokens, not ended, can still reach.

    More tokens never raise the score, since log-probabilities are at most 0; what they change is
    the divisor. With a penalty of 0 or more the divisor grows with length and draws a score toward
    0, so the best that may come is the present score at the length limit. With a negative penalty
    `length**-length_penalty` multiplies the score, so the best is to end as soon as it may: one
    token from now, or at the minimum length. Nothing better can come, and no lower bound holds for
    every model: it is reached by one that is certain of the remaining tokens.
    """
    if configuration.length_penalty >= 0:
        lengths = limits
    else:
        soonest = max(step, configuration.minimum_length) + 1
        lengths = torch.full_like(limits, soonest)
    return normalize(scores, lengths, configuration.length_penalty)
