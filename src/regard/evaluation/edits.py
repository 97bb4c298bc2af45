"""Levenshtein distance, by bits."""

from collections.abc import Hashable, Sequence


def edit_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The fewest insertions, deletions and substitutions that turn `first` into `second`.

    Myers (1999) in Hyyrö's form (2003, figure 3): a column of the dynamic-programming table is
    held as the bits of two integers (where it rises, where it falls), so a symbol of `second`
    costs a dozen integer operations whatever the length of `first`.
    """
    if not first or not second:
        return max(len(first), len(second))
    places: dict[Hashable, int] = {}
    for index, symbol in enumerate(first):
        places[symbol] = places.get(symbol, 0) | 1 << index
    everywhere = (1 << len(first)) - 1
    last = 1 << (len(first) - 1)
    rises, falls, distance = everywhere, 0, len(first)
    for symbol in second:
        matches = places.get(symbol, 0)
        zero = (((matches & rises) + rises) ^ rises) | matches | falls
        rises_across = falls | (everywhere & ~(zero | rises))
        falls_across = rises & zero
        distance += bool(rises_across & last) - bool(falls_across & last)
        rises_across = (rises_across << 1 | 1) & everywhere
        falls_across = falls_across << 1 & everywhere
        rises = falls_across | (everywhere & ~(zero | rises_across))
        falls = rises_across & zero
    return distance
