"""Strings of letters to copy or to turn around: nothing to know, everything to remember."""

import random
from collections.abc import Callable

from regard.data.pairs import Pair, Pairs

LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Letters, and the four special tokens.
VOCABULARY = len(LETTERS) + 4
TASKS: dict[str, Callable[[str], str]] = {
    "copy": lambda text: text,
    "reverse": lambda text: text[::-1],
}


def strings_up_to(task: str, longest: int, letters: int, seed: int) -> Pairs:
    """Strings of 1 to `longest` letters: as many letters in each order of magnitude of lengths.

    A length n comes as often as 1 / n^2 says, so that of batches with a given number of letters
    as many hold strings of 10 to 100 letters as of 100 to 1,000. letters: how many in all, or a few
    more.
    """
    generator, pairs = random.Random(seed), []
    while letters > 0:
        length = min(longest, int(1 / generator.uniform(1 / (longest + 1), 1)))
        pairs.append(_pair(task, length, generator))
        letters -= length
    return Pairs(tuple(pairs), f"strings of up to {longest} letters")


def strings_of(task: str, length: int, count: int, seed: int) -> Pairs:
    """Strings of exactly `length` letters."""
    generator = random.Random(seed * 1_000_003 + length)
    pairs = tuple(_pair(task, length, generator) for _ in range(count))
    return Pairs(pairs, f"strings of {length} letters")


def _pair(task: str, length: int, generator: random.Random) -> Pair:
    text = "".join(generator.choices(LETTERS, k=length))
    return Pair(text, TASKS[task](text))
