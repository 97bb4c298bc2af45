import random

from regard.evaluation.edits import edit_distance


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
