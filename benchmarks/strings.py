"""Strings to copy, to turn around or to add up: nothing to know, everything to work out."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from regard.data.pairs import Pair, Pairs
from regard.data.special import SPECIAL_TOKENS

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"


@dataclass(frozen=True)
class Task:
    """What strings are made of, and how one of a length comes with its answer."""

    name: str
    symbols: str
    pair: Callable[[int, random.Random], Pair]

    @property
    def vocabulary(self) -> int:
        """Its symbols, and the special tokens."""
        return len(self.symbols) + len(SPECIAL_TOKENS)


def copying(symbols: str) -> Task:
    """Of any of these symbols, each as likely."""

    def pair(length: int, generator: random.Random) -> Pair:
        text = "".join(generator.choices(symbols, k=length))
        return Pair(text, text)

    return Task("copy", symbols, pair)


def reversing(symbols: str) -> Task:
    """The same turned around."""

    def pair(length: int, generator: random.Random) -> Pair:
        text = "".join(generator.choices(symbols, k=length))
        return Pair(text, text[::-1])

    return Task("reverse", symbols, pair)


def _sum(length: int, generator: random.Random) -> Pair:
    digits = [length, generator.randint(1, length)]
    generator.shuffle(digits)
    first, second = (
        generator.randrange(10 ** (count - 1) if count > 1 else 0, 10**count) for count in digits
    )
    return Pair(f"{first}+{second}", str(first + second))


#: `275+86` and `361`: a number of so many digits, and one of as many or fewer, in any order.
ADDITION = Task("addition", DIGITS + "+", _sum)


def strings_up_to(task: Task, longest: int, letters: int, seed: int) -> Pairs:
    """Strings of 1 to `longest` letters: as many letters in each order of magnitude of lengths.

    A length n comes as often as 1 / n^2 says, so that of batches with a given number of letters
    as many hold strings of 10 to 100 letters as of 100 to 1,000. letters: how many in all, or a few
    more.
    """
    generator = random.Random(seed)

    def length() -> int:
        return min(longest, int(1 / generator.uniform(1 / (longest + 1), 1)))

    return _strings(task, length, letters, generator, f"strings of up to {longest} letters")


def strings_of_each_length(task: Task, longest: int, letters: int, seed: int) -> Pairs:
    """Strings of lengths 1 to `longest`: as many letters in those of each length."""
    generator = random.Random(seed)
    lengths = range(1, longest + 1)
    weights = [1 / length for length in lengths]

    def length() -> int:
        return generator.choices(lengths, weights)[0]

    return _strings(task, length, letters, generator, f"strings of each length up to {longest}")


def strings_of(task: Task, length: int, count: int, seed: int) -> Pairs:
    """Strings of exactly that length; of an addition, that of its longer number."""
    generator = random.Random(seed * 1_000_003 + length)
    pairs = tuple(task.pair(length, generator) for _ in range(count))
    return Pairs(pairs, f"strings of length {length}")


def by_length(task: Task, lengths: Sequence[int], count: int, seed: int) -> dict[str, Pairs]:
    """So many strings of each of the lengths, by its name."""
    return {str(length): strings_of(task, length, count, seed) for length in lengths}


def _strings(
    task: Task, length: Callable[[], int], letters: int, generator: random.Random, origin: str
) -> Pairs:
    """Strings of lengths that are drawn one by one, until they have so many letters in all."""
    pairs = []
    while letters > 0:
        pairs.append(task.pair(length(), generator))
        letters -= len(pairs[-1].source)
    return Pairs(tuple(pairs), origin)
