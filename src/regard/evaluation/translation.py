"""Answers: what a model made of a text, or of a text and a target that was given."""

from __future__ import annotations

from dataclasses import dataclass

from regard.evaluation.answer import Answer, Candidate

__all__ = ["BLANK", "Candidate", "Translation"]


@dataclass(frozen=True)
class Translation(Answer):
    """What a model made of one source text, or its view of a target that was given.

    source_tokens: what the model read.
    attention: ``[tokens][source tokens]``; empty where the model has none.
    source_steps: how many steps the model took over each source token; source_ponder: what these
        cost.
    alignment: links between whitespace-separated words, 0-based, source first.
    problem: why there is no answer: the source is longer than the model reads, the given
        target is longer than it writes, or features cannot be taken apart.
    unseen: symbols of the source that training never saw, which the model reads as unknown and
        cannot copy; unseen_target: those of a given target, which it can never write.
    unseen_features: symbols of its features that training never saw, which read as unknown.
    """

    source_tokens: tuple[str, ...] = ()
    attention: tuple[tuple[float, ...], ...] = ()
    source_steps: tuple[float, ...] = ()
    source_ponder: tuple[float, ...] = ()
    alignment: tuple[tuple[int, int], ...] = ()
    unseen: tuple[str, ...] = ()
    unseen_target: tuple[str, ...] = ()
    unseen_features: tuple[str, ...] = ()


BLANK = Translation("", None, None)
