"""Strings for benchmarks: what the task says, and lengths as they are promised."""

from collections import Counter

import pytest

from strings import (
    ADDITION,
    DIGITS,
    LETTERS,
    Task,
    copying,
    reversing,
    strings_of,
    strings_of_each_length,
    strings_up_to,
)

COPY, REVERSE = copying(LETTERS), reversing(LETTERS)


def test_strings_are_what_the_task_says() -> None:
    for task in (COPY, REVERSE):
        pairs = strings_of(task, 7, 5, seed=1)
        assert [len(pair.source) for pair in pairs] == [7] * 5
        assert all(set(pair.source) <= set(LETTERS) for pair in pairs)
        turned = [pair.source if task is COPY else pair.source[::-1] for pair in pairs]
        assert pairs.targets() == turned
    assert strings_of(COPY, 7, 5, seed=1) != strings_of(COPY, 7, 5, seed=2)


@pytest.mark.parametrize("length", [1, 3, 40])
def test_sums_are_right(length: int) -> None:
    """The longer number has that many digits, whichever it is; none begins with a needless 0."""
    pairs = strings_of(ADDITION, length, 50, seed=1)
    longer = Counter()
    for pair in pairs:
        first, second = pair.source.split("+")
        assert pair.target == str(int(first) + int(second))
        assert {first, second} == {str(int(first)), str(int(second))}
        assert max(len(first), len(second)) == length
        longer[len(first) > len(second)] += 1
    assert length == 1 or min(longer.values()) > 10
    assert "".join(pair.source for pair in pairs).strip(DIGITS + "+") == ""


@pytest.mark.parametrize("task", [COPY, reversing(DIGITS), ADDITION], ids=lambda task: task.name)
def test_vocabulary_is_that_of_the_strings(task: Task) -> None:
    pairs = strings_of(task, 20, 100, seed=1)
    symbols = set("".join(pair.source + pair.target for pair in pairs))
    assert task.vocabulary == len(symbols) + 4


def test_every_order_of_magnitude_is_learned_from() -> None:
    pairs = strings_up_to(COPY, 1000, 200_000, seed=1)
    lengths = [len(pair.source) for pair in pairs]
    letters = sum(lengths)
    assert 200_000 <= letters < 201_000
    assert max(lengths) <= 1000
    shares = [sum(n for n in lengths if low <= n < 10 * low) / letters for low in (1, 10, 100)]
    assert all(0.25 < share < 0.42 for share in shares), shares


def test_every_length_is_learned_from() -> None:
    pairs = strings_of_each_length(REVERSE, 10, 100_000, seed=1)
    letters = Counter()
    for pair in pairs:
        letters[len(pair.source)] += len(pair.source)
    assert sorted(letters) == list(range(1, 11))
    assert all(9_000 < count < 11_000 for count in letters.values()), letters
