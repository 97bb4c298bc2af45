"""The best and the worst outputs."""

import pytest

from regard.evaluation.extremes import find_extremes
from regard.evaluation.transduction import character_symbols, spaced_symbols

OUTPUTS = ["ab", "abcd", "xx", "abxd", "zzzz"]
REFERENCES = [["ab"], ["abcd"], ["ab"], ["abcd", "q"], ["abcd"]]


def test_by_errors():
    found = find_extremes(OUTPUTS, REFERENCES, character_symbols, name="symbol_error_rate", most=2)
    assert [each.index for each in found.best] == [1, 0]  # of equally good ones the longer
    assert [each.index for each in found.worst] == [4, 2]
    assert [each.value for each in (*found.best, *found.worst)] == [0, 0, 100, 100]


def test_by_overlap():
    found = find_extremes(OUTPUTS, REFERENCES, spaced_symbols, most=1)
    assert (found.name, found.best[0].index, found.worst[0].index) == ("chrf", 1, 4)
    assert found.best[0].value == pytest.approx(100) and found.worst[0].value == 0


def test_the_closest_target_is_told():
    found = find_extremes(OUTPUTS, REFERENCES, character_symbols, name="symbol_error_rate", most=3)
    (shown,) = [each for each in (*found.best, *found.worst) if each.index == 3]
    assert (shown.target, shown.output, shown.value) == ("abcd", "abxd", 25)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_none_is_both(count):
    found = find_extremes(OUTPUTS[:count], REFERENCES[:count], spaced_symbols, most=5)
    indices = [each.index for each in (*found.best, *found.worst)]
    assert sorted(indices) == list(range(count))
