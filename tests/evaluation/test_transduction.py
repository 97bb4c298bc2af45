import pytest

from regard.errors import UserError
from regard.evaluation import (
    character_symbols,
    exact_match,
    spaced_symbols,
    symbol_error_rate,
    word_error_rate,
)

REFERENCES = [["k a s a"], ["p o r t o", "p ɔ r t o"], ["s i"], ["n o"]]


def test_a_word_is_right_when_it_equals_any_accepted_target():
    outputs = ["k a s a", "p ɔ r t o", "s i i", "m o"]
    assert exact_match(outputs, REFERENCES).value == 50
    assert word_error_rate(outputs, REFERENCES).value == 50
    assert word_error_rate(["k a s a", "p o r t o", "s i", "n o"], REFERENCES).value == 0


def test_symbol_errors_are_edits_to_the_closest_target_over_its_length_summed():
    outputs = ["k a z a", "p ɔ r o", "s i i", "n o"]
    # 1 substitution of 4, 1 deletion of 5 (from the second target), 1 insertion of 2, 0 of 2
    assert symbol_error_rate(outputs, REFERENCES).value == pytest.approx(100 * 3 / 13)


def test_the_closest_target_is_counted_with_its_own_length():
    # "a b" to "a b c d": 2 edits; to "a x": 1 edit. The closest has 2 symbols.
    assert symbol_error_rate(["a b"], [["a b c d", "a x"]]).value == pytest.approx(50)


def test_equally_close_targets_give_the_same_figure_in_any_order():
    # "a b" is 1 edit from "a b c" and 1 from "b": the longer one counts.
    for accepted in (["a b c", "b"], ["b", "a b c"]):
        assert symbol_error_rate(["a b"], [accepted]).value == pytest.approx(100 / 3)


def test_an_empty_output_is_all_symbols_deleted():
    assert symbol_error_rate(["", ""], [["a b c"], ["d"]]).value == 100
    assert word_error_rate(["", ""], [["a b c"], ["d"]]).value == 100


def test_more_edits_than_symbols_is_more_than_100():
    assert symbol_error_rate(["x y z"], [["a"]]).value == 300


def test_the_splitter_decides_what_is_counted():
    assert symbol_error_rate(["gatos"], [["gato"]], spaced_symbols).value == 100
    assert symbol_error_rate(["gatos"], [["gato"]], character_symbols).value == 25
    assert spaced_symbols(" tʃ  ˈa o ") == ["tʃ", "ˈa", "o"]
    assert character_symbols("a b") == ["a", " ", "b"]


def test_empty_targets_do_not_divide_by_zero():
    assert symbol_error_rate([""], [[""]]).value == 0
    assert symbol_error_rate(["a"], [[""]]).value == 100


def test_directions_and_improvement():
    outputs = ["k a s a", "x", "x", "x"]
    matches, errors = exact_match(outputs, REFERENCES), word_error_rate(outputs, REFERENCES)
    assert (matches.better, errors.better) == ("higher", "lower")
    assert matches.improves_on(24)
    assert not matches.improves_on(25)
    assert errors.improves_on(76)
    assert not errors.improves_on(75)
    assert symbol_error_rate(outputs, REFERENCES).better == "lower"


def test_intervals_surround_the_figure_and_repeat():
    outputs = ["k a s a", "p o r t o", "s", "n o"] * 25
    references = REFERENCES * 25
    score = word_error_rate(outputs, references, resamples=300)
    again = word_error_rate(outputs, references, resamples=300)
    assert score.value == 25
    assert 10 < score.interval.low < 25 < score.interval.high < 40
    assert score.interval == again.interval
    assert word_error_rate(outputs, references).interval is None
    symbols = symbol_error_rate(outputs, references, resamples=300)
    assert symbols.interval.low < symbols.value < symbols.interval.high


@pytest.mark.parametrize("metric", [exact_match, word_error_rate, symbol_error_rate])
def test_a_missing_line_is_an_error_not_a_shift(metric):
    with pytest.raises(UserError, match="3 outputs for 4 sources"):
        metric(["a", "b", "c"], REFERENCES)
    with pytest.raises(UserError, match="source 1 has no accepted target"):
        metric(["a"], [[]])
