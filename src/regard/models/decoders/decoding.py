"""What decoders give: features for the output layer, attention, and what copying needs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jaxtyping import Float
from torch import Tensor

from regard.nn.halting import Pondered


class Copying(NamedTuple):
    """What a decoder that copies says of each step.

    Attributes:
        log_weights: natural logarithm of how much it attends to each source position.
        gate: the logit of ``p_gen``, the probability of writing a symbol by the output layer.
    """

    log_weights: Float[Tensor, "*batch source"]
    gate: Float[Tensor, "*batch"]


class Chosen(NamedTuple):
    """The positions that hard attention drew, one for each head and step (EQUATIONS A12).

    Attributes:
        log_probability: of what was drawn, in nats; its gradient is the score function.
        entropy: of what it was drawn from, in nats.
    """

    log_probability: Float[Tensor, "batch heads steps"]
    entropy: Float[Tensor, "batch heads steps"]


class Advanced(NamedTuple):
    """One step, and the state after it. Attention is the mean over heads.

    copying: None unless the decoder copies.
    """

    features: Float[Tensor, "batch features"]
    state: Any
    attention: Float[Tensor, "batch source"] | None
    copying: Copying | None = None


class Decoding(NamedTuple):
    """All teacher-forced steps. Attention is the mean over heads, None where it is not asked for.

    copying: None unless the decoder copies. pondered: how often its layer was applied to each
    position, where that is adaptive. chosen: what hard attention drew; None if it drew nothing.
    """

    features: Float[Tensor, "batch steps features"]
    attention: Float[Tensor, "batch steps source"] | None
    copying: Copying | None = None
    pondered: Pondered | None = None
    chosen: Chosen | None = None

    def advanced(self, state: Any) -> Advanced:
        """A single step, after which the decoder has this state."""
        shown, copying = self.attention, self.copying
        if copying is not None:
            copying = Copying(copying.log_weights[:, 0], copying.gate[:, 0])
        return Advanced(self.features[:, 0], state, None if shown is None else shown[:, 0], copying)


def mean_over_heads(
    log_weights: Float[Tensor, "batch heads steps source"],
) -> Float[Tensor, "batch steps source"]:
    """Natural logarithm of the mean of the heads' weights.

    A position that is hidden is so from all heads: it gets minus infinity, and no gradient.
    """
    if log_weights.shape[1] == 1:
        return log_weights.squeeze(1)
    hidden = (log_weights == -math.inf).all(1)
    mean = log_weights.masked_fill(hidden[:, None], 0.0).logsumexp(1)
    return (mean - math.log(log_weights.shape[1])).masked_fill(hidden, -math.inf)
