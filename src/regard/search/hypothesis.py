"""What search finds: a sequence of tokens with the model's own probability of it."""

from dataclasses import dataclass, field

from jaxtyping import Float
from torch import Tensor

#: The special ids, as in every vocabulary. Search sits below nothing that reads data, so it keeps
#: its own copy; a test holds the two together.
PAD, UNKNOWN, START, END = 0, 1, 2, 3

#: Never part of an output, however probable.
NEVER_EMITTED = (PAD, UNKNOWN, START)


@dataclass(frozen=True)
class Hypothesis:
    """One output of search, or one given target that was scored.

    tokens: ids, the end symbol included where `ended`.
    score: natural-log probability of the tokens under the model (the end symbol's included),
        neither normalized by length nor renormalized over the tokens that search allows.
    normalized_score: what hypotheses are ranked by, `score / length**length_penalty`.
    ended: False where the length limit, not the model, ended it.
    log_probabilities: of each token; they add up to `score`.
    attention: on the CPU, a row per token, over the real source positions; None where the model
        gives none or none was asked for.
    pondering: in the same way, how many steps the model took to predict each token, and what they
        cost (N and N + R of adaptive computation time).
    """

    tokens: tuple[int, ...]
    score: float
    normalized_score: float
    ended: bool
    log_probabilities: tuple[float, ...]
    attention: Float[Tensor, "tokens source"] | None = field(default=None, compare=False)
    pondering: Float[Tensor, "tokens 2"] | None = field(default=None, compare=False)
