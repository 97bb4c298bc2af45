"""Answers: what a model made of a text, or of a text and a target that was given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """One of the n best."""

    text: str
    score: float
    normalized_score: float


@dataclass(frozen=True)
class Translation:
    """What a model made of one source, or its view of a target that was given.

    score: natural-log probability of ``tokens``, the end symbol included, unnormalised.
    normalized_score: ``score / length**length_penalty``.
    tokens, source_tokens: what the model wrote and read; ``</s>`` is the end symbol.
    attention: ``[tokens][source tokens]``; empty where the model has none.
    source_steps, steps: how many steps the model took over each source token, and to write each
        token (of several models the mean); empty where its steps are not adaptive.
    source_ponder, ponder: what these cost: the steps and the remainder of the last one, N + R.
    token_scores: natural-log probability of each token.
    alignment: links between whitespace-separated words, 0-based, source first.
    nbest: candidates, best first, no two with the same text; as many as asked for, or fewer.
    ended: False where the length limit, not the model, ended it.
    problem: why there is no answer: the source is longer than the model reads, the given
        target is longer than it writes, or features cannot be taken apart.
    unseen: symbols of the source that training never saw, which the model reads as unknown and
        cannot copy; unseen_target: those of a given target, which it can never write.
    unseen_features: symbols of its features that training never saw, which read as unknown.
    """

    text: str
    score: float | None
    normalized_score: float | None
    tokens: tuple[str, ...] = ()
    source_tokens: tuple[str, ...] = ()
    attention: tuple[tuple[float, ...], ...] = ()
    source_steps: tuple[float, ...] = ()
    source_ponder: tuple[float, ...] = ()
    steps: tuple[float, ...] = ()
    ponder: tuple[float, ...] = ()
    token_scores: tuple[float, ...] = ()
    alignment: tuple[tuple[int, int], ...] = ()
    nbest: tuple[Candidate, ...] = ()
    ended: bool = True
    problem: str | None = None
    unseen: tuple[str, ...] = ()
    unseen_target: tuple[str, ...] = ()
    unseen_features: tuple[str, ...] = ()


BLANK = Translation("", None, None)
