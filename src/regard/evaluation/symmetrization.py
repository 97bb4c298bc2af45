"""Symmetrization: the links of two directions, made one alignment."""

from collections.abc import Callable
from dataclasses import dataclass

from regard.evaluation.alignment import Links

#: The neighbors of a link, target first, in the order in which they are tried.
_NEIGHBORS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrize(forward: Links, reverse: Links, method: str = "grow-diag-final-and") -> Links:
    """One alignment of the links that a model and one of the opposite direction give for a pair.

    forward: those of the model from source to target, which look for a source word for each target
        word (`e2f` in the pseudo-code of the papers, where the target is English).
    reverse: those of the other, source first as well (`f2e`).
    method: of `SYMMETRIZATIONS`. `intersection` and `union` are Och and Ney's (2003, section 4).
        `grow-diag` and `grow-diag-final-and` are Koehn, Och and Marcu's (2003, section 3) as
        Moses documents them: words of the target are gone through in order, and for each those of
        the source; links that were just added count at once.

    Raises ValueError for another method.
    """
    if method not in SYMMETRIZATIONS:
        raise ValueError(f"method {method!r} is none of {', '.join(SYMMETRIZATIONS)}")
    return SYMMETRIZATIONS[method](forward, reverse)


def _intersection(forward: Links, reverse: Links) -> Links:
    return forward & reverse


def _union(forward: Links, reverse: Links) -> Links:
    return forward | reverse


def _grow_diag(forward: Links, reverse: Links) -> Links:
    return frozenset(_grown(forward, reverse).links)


def _grow_diag_final_and(forward: Links, reverse: Links) -> Links:
    growing = _grown(forward, reverse)
    for links in (forward, reverse):
        for link in _in_order(links):
            if growing.free(link) == 2:
                growing.add(link)
    return frozenset(growing.links)


SYMMETRIZATIONS: dict[str, Callable[[Links, Links], Links]] = {
    "grow-diag-final-and": _grow_diag_final_and,
    "grow-diag": _grow_diag,
    "intersection": _intersection,
    "union": _union,
}


@dataclass(frozen=True)
class _Growing:
    """An alignment that grows, and the words of both sides that have links in it."""

    links: set[tuple[int, int]]
    sources: set[int]
    targets: set[int]

    def free(self, link: tuple[int, int]) -> int:
        """How many of the two words have no link yet."""
        return (link[0] not in self.sources) + (link[1] not in self.targets)

    def add(self, link: tuple[int, int]) -> None:
        self.links.add(link)
        self.sources.add(link[0])
        self.targets.add(link[1])


def _grown(forward: Links, reverse: Links) -> _Growing:
    """The intersection, and what of the union is next to a link and gives a free word its first."""
    both, either = forward & reverse, forward | reverse
    growing = _Growing(set(both), {source for source, _ in both}, {target for _, target in both})
    candidates, before = _in_order(either), -1
    while before < len(growing.links):
        before = len(growing.links)
        for source, target in candidates:
            if (source, target) not in growing.links:
                continue
            for down, right in _NEIGHBORS:
                neighbor = (source + right, target + down)
                if neighbor in either and growing.free(neighbor):
                    growing.add(neighbor)
    return growing


def _in_order(links: Links) -> list[tuple[int, int]]:
    """By target word, then by source word."""
    return sorted(links, key=lambda link: (link[1], link[0]))
