"""ROUGE-L of captions: the longest common subsequence, as COCO's evaluation has it."""

from collections.abc import Hashable, Sequence

from regard.evaluation.captions.means import mean_score
from regard.evaluation.captions.signatures import signature
from regard.evaluation.captions.tokenized import Captions
from regard.evaluation.score import Score

BETA = 1.2


def rouge_l_score(captions: Captions, *, resamples: int = 0) -> Score:
    """The mean of `rouge_l` over the images, in percent."""
    values = list(map(rouge_l, captions.hypotheses, captions.references))
    return mean_score("rouge_l", values, signature(f"beta:{BETA}"), resamples)


def rouge_l(caption: Sequence[Hashable], references: Sequence[Sequence[Hashable]]) -> float:
    """ROUGE-L of one caption (Lin 2004, equations 2 to 4), from 0 to 1.

    (1 + b^2) P R / (R + b^2 P) with b = 1.2, where P and R are the longest common subsequence as a
    share of the caption and of the reference. With several references each is the largest there
    is, be it of different references: COCO's rule.
    """
    if not caption:
        return 0.0
    common = [(longest_common(caption, reference), len(reference)) for reference in references]
    precision = max(length for length, _ in common) / len(caption)
    recall = max(length / words if words else 0.0 for length, words in common)
    if not precision:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def longest_common(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence.

    By bits (Hyyrö 2004): a zero in `row` is a place of `first` where the subsequence grows.
    """
    places: dict[Hashable, int] = {}
    for index, symbol in enumerate(first):
        places[symbol] = places.get(symbol, 0) | 1 << index
    everywhere = (1 << len(first)) - 1
    row = everywhere
    for symbol in second:
        matches = row & places.get(symbol, 0)
        row = ((row + matches) | (row - matches)) & everywhere
    return len(first) - row.bit_count()
