"""Symmetrization against the published pseudo-code, and cases worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.evaluation import SYMMETRIZATIONS, symmetrize

from . import symmetrization as published

WORDS = 6
points = st.frozensets(st.tuples(st.integers(0, WORDS - 1), st.integers(0, WORDS - 1)))


def links(text: str) -> frozenset[tuple[int, int]]:
    pairs = (item.split("-") for item in text.split())
    return frozenset((int(source), int(target)) for source, target in pairs)


@given(points, points)
@settings(max_examples=300, deadline=None)
def test_growing_is_the_published_one(forward, reverse):
    sizes = WORDS, WORDS
    grown = published.grow_diag(set(forward), set(reverse), *sizes)
    assert symmetrize(forward, reverse, "grow-diag") == grown
    final = published.grow_diag_final_and(set(forward), set(reverse), *sizes)
    assert symmetrize(forward, reverse, "grow-diag-final-and") == final
    assert symmetrize(forward, reverse) == final


@given(points, points)
@settings(deadline=None)
def test_each_lies_between_intersection_and_union(forward, reverse):
    made = {method: symmetrize(forward, reverse, method) for method in SYMMETRIZATIONS}
    assert made["intersection"] == forward & reverse
    assert made["union"] == forward | reverse
    grown, final = made["grow-diag"], made["grow-diag-final-and"]
    assert made["intersection"] <= grown <= final <= made["union"]
    for source, target in final - grown:  # what is added last touches nothing that was linked
        assert all(source != other for other, _ in grown)
        assert all(target != other for _, other in grown)


@pytest.mark.parametrize(
    ("forward", "reverse", "grown", "final"),
    [
        # a neighbor below, one to the right, and a diagonal one of a linked word's free neighbor
        ("0-0 0-1", "0-0", "0-0 0-1", "0-0 0-1"),
        ("0-0 1-0", "0-0", "0-0 1-0", "0-0 1-0"),
        ("0-0 1-1", "0-0", "0-0 1-1", "0-0 1-1"),
        # 1-1 joins 0-0 diagonally; 2-2 then joins 1-1, which the intersection does not have
        ("0-0 1-1", "0-0 2-2", "0-0 1-1 2-2", "0-0 1-1 2-2"),
        # one free word is enough to grow: 1-0 gives only the source word 1 its first link
        ("0-0", "0-0 1-0", "0-0 1-0", "0-0 1-0"),
        # none is not: both words of 0-1 have links, as do those of 1-0
        ("0-0 1-1 0-1", "0-0 1-1 1-0", "0-0 1-1", "0-0 1-1"),
        # not a neighbor: left to the last step, where both words must be free
        ("0-0 3-3", "0-0", "0-0", "0-0 3-3"),
        ("0-0 3-0", "0-0", "0-0", "0-0"),
        # in the last step those of the model come first and take the words of the others'
        ("2-3", "2-4 3-3", "", "2-3"),
        ("", "2-4 3-3", "", "2-4 3-3"),
        # and by target word: 5-2 comes before 5-3
        ("5-2 5-3", "", "", "5-2"),
        ("", "", "", ""),
    ],
)
def test_by_hand(forward, reverse, grown, final):
    sides = links(forward), links(reverse)
    assert symmetrize(*sides, "grow-diag") == links(grown)
    assert symmetrize(*sides) == links(final)


def test_what_comes_first_decides_which_words_are_still_free():
    # 0-0 is in both, so neither 0-1 nor 1-0 has a free word
    forward, reverse = links("1-1 1-0 0-0"), links("1-1 0-1 0-0")
    assert symmetrize(forward, reverse, "grow-diag") == links("0-0 1-1")
    # 0-0 is in one: straight neighbors of 1-1 come before diagonal ones, and leave it no free word
    forward, reverse = links("1-1 1-0 0-0"), links("1-1 0-1")
    assert symmetrize(forward, reverse, "grow-diag") == links("1-1 1-0 0-1")


def test_directions_mirror_each_other_before_the_last_step():
    forward, reverse = links("0-0 1-1 2-1 4-4"), links("0-0 1-0 2-2 4-3")
    flipped = [frozenset((j, i) for i, j in side) for side in (reverse, forward)]
    for method in ("intersection", "union"):
        there, back = symmetrize(forward, reverse, method), symmetrize(*flipped, method)
        assert {(j, i) for i, j in there} == back


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match="grow-diag-final-and, grow-diag, intersection, union"):
        symmetrize(frozenset(), frozenset(), "grow")
