import random

from regard.evaluation.edits import edit_distance, edits


def table_distance(first, second):
    """The textbook table, a row at a time (Wagner and Fischer 1974)."""
    row = list(range(len(second) + 1))
    for i, one in enumerate(first, start=1):
        previous, row = row, [i]
        for j, other in enumerate(second, start=1):
            substituted = previous[j - 1] + (one != other)
            row.append(min(previous[j] + 1, row[j - 1] + 1, substituted))
    return row[-1]


def test_by_hand():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "") == 0
    assert edit_distance("", "abc") == 3
    assert edit_distance("abc", "") == 3
    assert edit_distance("a", "b") == 1
    assert edit_distance(["tʃ", "a"], ["t", "ʃ", "a"]) == 2


def test_equals_the_table_on_random_sequences_longer_than_a_machine_word():
    generator = random.Random(5)
    for _ in range(400):
        alphabet = "abcdefgh"[: generator.randint(1, 8)]
        first = generator.choices(alphabet, k=generator.randint(0, 90))
        second = generator.choices(alphabet, k=generator.randint(0, 90))
        assert edit_distance(first, second) == table_distance(first, second)


def test_a_few_edits_of_a_long_text():
    first = "the quick brown fox " * 40
    assert edit_distance(first, first[:300] + "X" + first[301:500] + first[502:]) == 3


def test_edits_by_hand():
    assert edits("kitten", "sitting") == [("k", "s"), ("e", "i"), (None, "g")]
    assert edits("abc", "abc") == edits("", "") == []
    assert edits("", "ab") == [(None, "a"), (None, "b")]
    assert edits("ab", "") == [("a", None), ("b", None)]
    assert edits(["tʃ", "a"], ["t", "ʃ", "a"]) == [(None, "t"), ("tʃ", "ʃ")]


def test_doubles_are_matched_from_the_end():
    assert edits("aab", "ab") == [("a", None)]
    assert edits("gatto", "gato") == [("t", None)]
    assert edits("gato", "gattto") == [(None, "t"), (None, "t")]


def applied(first, changes):
    """All ways to make `changes`, in their order and left to right, in `first`."""
    found = {((), tuple(first))}
    for expected, given in changes:
        found = {
            (*start, *rest[:place], *([] if given is None else [given])): rest[place + taken :]
            for start, rest in found
            for taken in [expected is not None]
            for place in range(len(rest) + 1 - taken)
            if not taken or rest[place] == expected
        }.items()
    return {start + rest for start, rest in found}


def test_edits_are_as_few_as_can_be_and_make_the_second():
    generator = random.Random(6)
    for _ in range(500):
        first = generator.choices("abc", k=generator.randint(0, 7))
        second = generator.choices("abc", k=generator.randint(0, 7))
        changes = edits(first, second)
        assert len(changes) == table_distance(first, second)
        assert all(expected != given for expected, given in changes)
        assert tuple(second) in applied(first, changes)


def test_edits_beyond_a_machine_word():
    generator = random.Random(7)
    for _ in range(40):
        first = generator.choices("abcdef", k=generator.randint(60, 150))
        second = generator.choices("abcdef", k=generator.randint(60, 150))
        changes = edits(first, second)
        assert len(changes) == edit_distance(first, second)
        made = sum(given is not None for _, given in changes)
        lost = sum(expected is not None for expected, _ in changes)
        assert len(first) - lost == len(second) - made  # what is left is matched
