"""How good outputs are for short sources and for long ones."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from regard.evaluation.score import Score

#: Measures outputs against the accepted targets of their sources.
Measure = Callable[[list[str], list[Sequence[str]]], Score]


@dataclass(frozen=True)
class LengthGroup:
    """Sources of `shortest` to `longest` symbols, how many there are, and the score of these."""

    shortest: int
    longest: int
    sources: int
    score: Score


def scores_by_length(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    lengths: Sequence[int],
    measure: Measure,
    *,
    most: int = 5,
) -> list[LengthGroup]:
    """Measure groups of sources of like length, shortest first.

    At most `most` groups of about as many sources each; sources of one length are in one group.
    lengths: of each source. Raises ValueError for differing counts.
    """
    groups = []
    rows = list(zip(lengths, hypotheses, references, strict=True))
    for shortest, longest in length_ranges(lengths, most):
        some = [row for row in rows if shortest <= row[0] <= longest]
        score = measure([row[1] for row in some], [row[2] for row in some])
        groups.append(LengthGroup(shortest, longest, len(some), score))
    return groups


def length_ranges(lengths: Sequence[int], most: int) -> list[tuple[int, int]]:
    """The shortest and longest length of each group, in order; every length is in one."""
    counts = sorted(Counter(lengths).items())
    ranges: list[tuple[int, int]] = []
    before = 0  # sources in the groups that are full
    some: list[int] = []
    filled = 0
    for number, (length, count) in enumerate(counts):
        some.append(length)
        filled += count
        left = most - len(ranges)
        is_last = number == len(counts) - 1
        if is_last or (left > 1 and filled * left >= len(lengths) - before):
            ranges.append((some[0], some[-1]))
            before, some, filled = before + filled, [], 0
    return ranges
