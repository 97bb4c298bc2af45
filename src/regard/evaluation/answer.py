"""What every answer of a model has, whatever it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from regard.data.tokenizers import Tokenizer
from regard.search import Hypothesis


@dataclass(frozen=True)
class Candidate:
    """One of the n best."""

    text: str
    score: float
    normalized_score: float


@dataclass(frozen=True)
class Answer:
    """What a model wrote, or its view of a target that was given.

    score: natural-log probability of ``tokens``, the end symbol included, unnormalised.
    normalized_score: ``score / length**length_penalty``.
    tokens: what the model wrote; ``</s>`` is the end symbol.
    token_scores: natural-log probability of each token.
    steps: how many steps the model took to write each token (of several models the mean); empty
        where its steps are not adaptive.
    ponder: what these cost: the steps and the remainder of the last one, N + R.
    nbest: candidates, best first, no two with the same text; as many as asked for, or fewer.
    ended: False where the length limit, not the model, ended it.
    problem: why there is no answer.
    """

    text: str
    score: float | None
    normalized_score: float | None
    tokens: tuple[str, ...] = ()
    token_scores: tuple[float, ...] = ()
    steps: tuple[float, ...] = ()
    ponder: tuple[float, ...] = ()
    nbest: tuple[Candidate, ...] = ()
    ended: bool = True
    problem: str | None = None


def written(tokenizer: Tokenizer, hypotheses: Sequence[Hypothesis]) -> dict[str, Any]:
    """The fields of the answer that these hypotheses are, the best one first, but for its tokens.

    Two segmentations of one text are one candidate.
    """
    best = hypotheses[0]
    nbest: dict[str, Candidate] = {}
    for each in hypotheses:
        text = tokenizer.decode(each.tokens)
        nbest.setdefault(text, Candidate(text, each.score, each.normalized_score))
    return {
        "text": next(iter(nbest)),
        "score": best.score,
        "normalized_score": best.normalized_score,
        "token_scores": best.log_probabilities,
        "nbest": tuple(nbest.values()),
        "ended": best.ended,
    }


def step_columns(
    pairs: Float[Tensor, "tokens 2"] | None,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Steps, whole unless they are a mean over several models, and what they cost."""
    if pairs is None:
        return (), ()
    rows = pairs.tolist()
    steps = tuple(int(taken) if taken.is_integer() else taken for taken, _ in rows)
    return steps, tuple(cost for _, cost in rows)
