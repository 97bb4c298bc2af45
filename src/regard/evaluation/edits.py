"""Levenshtein distance and the edits behind it, by bits."""

from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

Symbol = TypeVar("Symbol", bound=Hashable)

#: (symbol of the first, symbol of the second): None on the right is a deletion, on the left an
#: insertion, two different symbols a substitution.
Edit = tuple[Symbol | None, Symbol | None]


#: Differences in a column of the dynamic-programming table, a bit for each symbol of `first`:
#: where the distance is one more and one less than in the row above, and where it is one more and
#: one less than in the column before.
_Column = tuple[int, int, int, int]


def edit_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The fewest insertions, deletions and substitutions that turn `first` into `second`."""
    if not first or not second:
        return max(len(first), len(second))
    last, distance = 1 << (len(first) - 1), len(first)
    for _, _, rises_across, falls_across in _columns(first, second):
        distance += bool(rises_across & last) - bool(falls_across & last)
    return distance


def edits(first: Sequence[Symbol], second: Sequence[Symbol]) -> list[Edit[Symbol]]:
    """The edits that turn `first` into `second`: as few as there can be, in their order.

    Of several such ways the one that, read from the end, matches before it substitutes,
    substitutes before it deletes, and deletes before it inserts: the same on every machine.
    """
    columns = list(_columns(first, second)) if first else []
    found: list[Edit[Symbol]] = []
    row, column = len(first), len(second)
    while row and column:
        bit = 1 << (row - 1)
        if first[row - 1] == second[column - 1]:
            row, column = row - 1, column - 1
            continue
        rises, _, rises_across, falls_across = columns[column - 1]
        rises_before, falls_before = columns[column - 2][:2] if column > 1 else (bit, 0)
        across = bool(rises_across & bit) - bool(falls_across & bit)
        up = bool(rises_before & bit) - bool(falls_before & bit)
        if across + up == 1:  # the distance is one more than on the diagonal
            found.append((first[row - 1], second[column - 1]))
            row, column = row - 1, column - 1
        elif rises & bit:
            found.append((first[row - 1], None))
            row -= 1
        else:
            found.append((None, second[column - 1]))
            column -= 1
    found += [(symbol, None) for symbol in reversed(first[:row])]
    found += [(None, symbol) for symbol in reversed(second[:column])]
    return found[::-1]


def _columns(first: Sequence[Hashable], second: Sequence[Hashable]) -> Iterator[_Column]:
    """The table's columns after its first, in order; `first` has at least one symbol.

    Myers (1999) in Hyyrö's form (2003, figure 3): a column is held as the bits of integers, so a
    symbol of `second` costs a dozen integer operations whatever the length of `first`.
    """
    places: dict[Hashable, int] = {}
    for index, symbol in enumerate(first):
        places[symbol] = places.get(symbol, 0) | 1 << index
    everywhere = (1 << len(first)) - 1
    rises, falls = everywhere, 0
    for symbol in second:
        matches = places.get(symbol, 0)
        zero = (((matches & rises) + rises) ^ rises) | matches | falls
        rises_across = falls | (everywhere & ~(zero | rises))
        falls_across = rises & zero
        shifted_rises = (rises_across << 1 | 1) & everywhere
        shifted_falls = falls_across << 1 & everywhere
        rises = shifted_falls | (everywhere & ~(zero | shifted_rises))
        falls = shifted_rises & zero
        yield rises, falls, rises_across, falls_across
