"""Alignment: gold links between the parts of a source and the parts of a target."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Alignment:
    """Links (source index, target index), both from 0.

    sure: links that must be found.
    possible: further links that may be found without being an error; never one of the sure ones.
    """

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]] = frozenset()

    @property
    def links(self) -> frozenset[tuple[int, int]]:
        """All of them, sure or possible."""
        return self.sure | self.possible

    def within(self, source_length: int, target_length: int) -> "Alignment":
        """The links between parts that there are, in a source and a target of that many."""

        def inside(links: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
            return frozenset((i, j) for i, j in links if i < source_length and j < target_length)

        return Alignment(inside(self.sure), inside(self.possible))

    def turned(self) -> "Alignment":
        """The same links with source and target changed over."""
        return Alignment(turned(self.sure), turned(self.possible))

    def pharaoh(self) -> str:
        """The line of a gold file: `i-j` for a sure link, `ipj` for a possible one, in order."""
        links = [(i, j, "-") for i, j in self.sure] + [(i, j, "p") for i, j in self.possible]
        return " ".join(f"{i}{mark}{j}" for i, j, mark in sorted(links))


def word_counts(pairs: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    """How many words between white space the source and the target of each pair have."""
    return [(len(source.split()), len(target.split())) for source, target in pairs]


def turned(links: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Links with source and target changed over."""
    return frozenset((target, source) for source, target in links)
