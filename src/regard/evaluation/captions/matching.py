"""Matching: which words of a caption stand for which of a reference, as METEOR 1.5 finds it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from regard.evaluation.captions.words import stem

BEAM = 40


class Match(NamedTuple):
    """A word of the caption and one of the reference, by their indices.

    exact: whether they are the same word; otherwise their stems are.
    """

    caption: int
    reference: int
    exact: bool


class _Path(NamedTuple):
    """What is matched up to a word of the reference.

    used: words of the caption, as bits; end: the word of the caption behind the last match, -1
    after a word of the reference without a match.
    """

    matches: tuple[Match, ...]
    used: int
    exact: int
    chunks: int = 0
    distance: int = 0
    end: int = -1

    @property
    def rank(self) -> tuple[int, int, int]:
        return -self.exact, self.chunks, self.distance

    def take(self, match: Match, distance: int) -> "_Path":
        begins = self.end not in (-1, match.caption)
        return _Path(
            (*self.matches, match),
            self.used | 1 << match.caption,
            self.exact + match.exact,
            self.chunks + begins,
            distance,
            match.caption + 1,
        )

    def skip(self, distance: int) -> "_Path":
        chunks = self.chunks + (self.end != -1)
        return _Path(self.matches, self.used, self.exact, chunks, distance)


def match_words(caption: Sequence[str], reference: Sequence[str]) -> list[Match]:
    """The matches of a caption with a reference, in the reference's order.

    A word is matched at most once. Words with one possible match, each of the other, are matched.
    For the rest the fullest set is searched with a beam of 40, reference word by reference word: as
    many exact matches as there can be, then the fewest chunks, then the least distance. Two points
    are those of METEOR 1.5's program and not of its description: matches by stem do not count
    among the first, and the distance of a match is charged to what is tried after it in its place.
    """
    possible = _possible_matches(caption, reference)
    fixed = _only_matches(possible)
    used = sum(1 << match.caption for match in fixed.values())
    paths = [_Path((), used, 0)]
    for index, choices in enumerate(possible):
        paths.sort(key=lambda path: path.rank)
        following: list[_Path] = []
        for path in paths[:BEAM]:
            if index in fixed:
                match = fixed[index]
                following.append(path.take(match, path.distance + _distance(match)))
            else:
                following += _continued(path, choices)
        paths = following
    ended = (path.skip(path.distance) for path in paths)
    return list(min(ended, key=lambda path: path.rank).matches)


def count_chunks(matches: Sequence[Match]) -> int:
    """Runs of matches that are adjacent and in the same order in caption and reference."""
    return bool(matches) + sum(
        (after.caption - before.caption, after.reference - before.reference) != (1, 1)
        for before, after in pairwise(matches)
    )


def _possible_matches(caption: Sequence[str], reference: Sequence[str]) -> list[list[Match]]:
    """For each word of the reference the words of the caption that match it, exact ones first."""
    stems = [] if caption == reference else [stem(word) for word in caption]
    found = []
    for index, word in enumerate(reference):
        exact = [Match(at, index, True) for at, other in enumerate(caption) if other == word]
        key = stem(word) if stems else ""
        found.append(
            exact
            + [
                Match(at, index, False)
                for at, other in enumerate(stems)
                if other == key and caption[at] != word
            ]
        )
    return found


def _only_matches(possible: list[list[Match]]) -> dict[int, Match]:
    """By index in the reference, the matches of two words that match no others."""
    partners: dict[int, int] = {}
    for choices in possible:
        for match in choices:
            partners[match.caption] = partners.get(match.caption, 0) + 1
    single = [choices[0] for choices in possible if len(choices) == 1]
    return {match.reference: match for match in single if partners[match.caption] == 1}


def _continued(path: _Path, choices: list[Match]) -> list[_Path]:
    distance, following = path.distance, []
    for match in choices:
        if not path.used >> match.caption & 1:
            following.append(path.take(match, distance))
            distance += _distance(match)
    return [*following, path.skip(distance)]


def _distance(match: Match) -> int:
    return abs(match.reference - match.caption)
