"""Pairs: what a model is trained and measured on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True)
class Pair:
    """A source text and a target text."""

    source: str
    target: str


@dataclass(frozen=True)
class Pairs(Sequence[Pair]):
    """Pairs in the order of their file.

    origin: where they come from, for messages.
    blank: how many pairs were dropped because a side was empty or only white space.
    """

    pairs: tuple[Pair, ...]
    origin: str
    blank: int = 0

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Pair, ...]: ...
    def __getitem__(self, index: int | slice) -> Pair | tuple[Pair, ...]:
        return self.pairs[index]

    def sources(self) -> list[str]:
        """The source of every pair."""
        return [pair.source for pair in self.pairs]

    def targets(self) -> list[str]:
        """The target of every pair."""
        return [pair.target for pair in self.pairs]

    def references(self) -> tuple[list[str], list[list[str]]]:
        """Distinct sources in first-seen order, and the distinct accepted targets of each."""
        accepted: dict[str, dict[str, None]] = {}
        for pair in self.pairs:
            accepted.setdefault(pair.source, {})[pair.target] = None
        return list(accepted), [list(targets) for targets in accepted.values()]
