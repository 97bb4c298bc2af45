"""Alignment of two descriptions of one scene, from the roles of their words."""

from regard.data.alignment import Alignment
from regard.data.scenes.words import Sentence, Word


def align(source: Sentence, target: Sentence) -> Alignment:
    """Links between the words of two descriptions.

    Sure where two words share a role; possible where one helps with a role of the other.
    """
    said, helped = _positions(target)
    sure: set[tuple[int, int]] = set()
    possible: set[tuple[int, int]] = set()
    for i, word in enumerate(source):
        for role in word.roles:
            sure.update((i, j) for j in said.get(role, ()))
        for role in (*word.roles, *word.loose):
            possible.update((i, j) for j in helped.get(role, ()))
        for role in word.loose:
            possible.update((i, j) for j in said.get(role, ()))
    return Alignment(frozenset(sure), frozenset(possible - sure))


def _positions(words: tuple[Word, ...]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Where each role is said outright, and where it is only helped with."""
    said: dict[str, list[int]] = {}
    helped: dict[str, list[int]] = {}
    for index, word in enumerate(words):
        for role in word.roles:
            said.setdefault(role, []).append(index)
        for role in word.loose:
            helped.setdefault(role, []).append(index)
    return said, helped
