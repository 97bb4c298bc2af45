import json

import pytest

from regard.errors import UserError
from regard.evaluation import character_symbols, find_confusions, symbol_error_rate

OUTPUTS = ["k a t o", "a", "k i", "s o l"]
REFERENCES = [["g a t t o"], ["a"], ["k a n e", "g i"], ["s o l e"]]


def found(confusions):
    return [(each.edit, each.expected, each.given, each.count) for each in confusions.most_frequent]


def test_by_hand():
    confusions = find_confusions(OUTPUTS, REFERENCES, most=10)
    assert found(confusions) == [
        ("substitution", "g", "k", 2),
        ("deletion", "e", None, 1),
        ("deletion", "t", None, 1),
    ]
    assert (confusions.edits, confusions.kinds) == (4, 3)
    assert (confusions.substitutions, confusions.deletions, confusions.insertions) == (2, 2, 0)
    first = confusions.most_frequent[0]
    assert (first.share, first.example) == (50, 0)
    assert (first.target, first.output) == ("g a t t o", "k a t o")


def test_insertions_and_characters():
    confusions = find_confusions(["a cba"], [["abc"]], character_symbols, most=10)
    assert ("insertion", None, " ", 1) in found(confusions)
    assert confusions.edits == 3


def test_the_edits_are_those_of_the_symbol_error_rate():
    outputs = ["a b", "c", "", "x y z", "a a a"]
    references = [["a c", "b b"], ["c"], ["d e f", "d"], ["y x"], ["a", "a b c d e f g"]]
    confusions = find_confusions(outputs, references, most=100)
    symbols = 2 + 1 + 1 + 2 + 1
    rate = symbol_error_rate(outputs, references)
    assert rate.value == pytest.approx(100 * confusions.edits / symbols)
    assert sum(each.count for each in confusions.most_frequent) == confusions.edits
    assert sum(each.share for each in confusions.most_frequent) == pytest.approx(100)


def test_the_order_of_targets_and_of_equal_counts_does_not_matter():
    one = find_confusions(["q"], [["a", "b", "c"]], most=1)
    other = find_confusions(["q"], [["c", "b", "a"]], most=1)
    assert found(one) == found(other) == [("substitution", "a", "q", 1)]
    equal = find_confusions(["b", "a", "d"], [["c"], ["c"], ["a"]], most=2)
    assert found(equal) == [("substitution", "a", "d", 1), ("substitution", "c", "a", 1)]
    assert (equal.edits, equal.kinds) == (3, 3)


def test_nothing_wrong():
    confusions = find_confusions(["a"], [["a"]], most=3)
    assert (confusions.most_frequent, confusions.edits, confusions.kinds) == ((), 0, 0)


def test_as_json():
    data = json.loads(json.dumps(find_confusions(["b"], [["a"]], most=1).as_dict(["A"])))
    assert data == {
        "edits": 1,
        "substitutions": 1,
        "deletions": 0,
        "insertions": 0,
        "kinds": 1,
        "most_frequent": [
            {
                "edit": "substitution",
                "expected": "a",
                "given": "b",
                "count": 1,
                "share": 100.0,
                "source": "A",
                "target": "a",
                "output": "b",
            }
        ],
    }


def test_bad_input():
    with pytest.raises(UserError, match="1 outputs for 0 sources"):
        find_confusions(["a"], [], most=1)
