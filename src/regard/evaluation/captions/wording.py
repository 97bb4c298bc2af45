"""Wording: how captions say it, whatever they say: how many differ, are new, how long they are."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """How a set of captions is worded; tokens are `caption_tokens`.

    distinct: different captions, in percent of all.
    novel: captions that are not in the training data, in percent of all; None if those are unknown.
    length: tokens a caption, on average.
    vocabulary: how many different tokens there are.
    """

    distinct: float
    novel: float | None
    length: float
    vocabulary: int


def wording_of(
    captions: Sequence[Sequence[str]], training: Collection[Sequence[str]] | None = None
) -> Wording:
    """The wording of captions in tokens; `training` holds the training captions, in tokens too."""
    count = len(captions)
    different = [tuple(tokens) for tokens in captions]
    novel = None
    if training is not None:
        known = {tuple(tokens) for tokens in training}
        novel = 100 * sum(tokens not in known for tokens in different) / count
    words = [token for tokens in captions for token in tokens]
    return Wording(100 * len(set(different)) / count, novel, len(words) / count, len(set(words)))
