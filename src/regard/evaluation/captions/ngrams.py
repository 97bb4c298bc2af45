"""Counts of n-grams."""

from collections import Counter
from collections.abc import Hashable, Sequence

NGram = tuple[Hashable, ...]


def count_ngrams(tokens: Sequence[Hashable], longest: int) -> Counter[NGram]:
    """How often each n-gram of 1 to `longest` tokens comes in a caption."""
    counts: Counter[NGram] = Counter()
    for order in range(1, longest + 1):
        counts.update(zip(*(tokens[start:] for start in range(order)), strict=False))
    return counts
