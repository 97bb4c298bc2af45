"""Alignment: gold links between the parts of a source and the parts of a target."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Alignment:
    """Links (source index, target index), both from 0.

    sure: links that must be found.
    possible: further links that may be found without being an error; never one of the sure ones.
    """

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]] = frozenset()

    def pharaoh(self) -> str:
        """The line of a gold file: `i-j` for a sure link, `ipj` for a possible one, in order."""
        links = [(i, j, "-") for i, j in self.sure] + [(i, j, "p") for i, j in self.possible]
        return " ".join(f"{i}{mark}{j}" for i, j, mark in sorted(links))
