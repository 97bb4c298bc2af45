"""What attention gives."""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor


class Attended(NamedTuple):
    """Always two things, the second None unless asked for.

    Attributes:
        context: what was read, ``[batch, queries, size]``.
        weights: how much of each position, ``[batch, heads, queries, positions]``, before dropout;
            or the natural logarithms of it.
    """

    context: Float[Tensor, "batch queries size"]
    weights: Float[Tensor, "batch heads queries positions"] | None


class Sampled(NamedTuple):
    """What hard attention gives when it draws: all that REINFORCE needs (EQUATIONS A12).

    Attributes:
        context: the value at the drawn position, projected like any context.
        weights: what it was drawn from, ``[batch, heads, queries, positions]``.
        log_probability: of what was drawn, ``[batch, heads, queries]``, in nats; its gradient is
            the score function.
        entropy: of the weights, ``[batch, heads, queries]``, in nats.
    """

    context: Float[Tensor, "batch queries size"]
    weights: Float[Tensor, "batch heads queries positions"]
    log_probability: Float[Tensor, "batch heads queries"]
    entropy: Float[Tensor, "batch heads queries"]
