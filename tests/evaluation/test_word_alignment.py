import numpy as np
import pytest

from regard.data.alignment import Alignment
from regard.errors import UserError
from regard.evaluation import (
    alignment_error_rate,
    alignment_scores,
    diagonal,
    links_from_attention,
)
from regard.evaluation.alignment import LinkCounts, count_links


def links(*pairs):
    return frozenset(pairs)


def test_error_rate_by_hand():
    # |A|=3, |S|=2, A∩S={(0,0)}, A∩P={(0,0),(1,1)}: 1 - (1+2)/(3+2)
    predicted, sure = links((0, 0), (1, 1), (2, 5)), links((0, 0), (2, 2))
    possible = links((1, 1))
    assert alignment_error_rate([predicted], [sure], [possible]) == pytest.approx(0.4)
    assert alignment_error_rate([predicted], [sure], [possible | sure]) == pytest.approx(0.4)


def test_error_rate_sums_counts_over_the_corpus():
    right, none = links((0, 0)), links()
    wrong, gold = links((1, 0), (2, 1), (3, 2)), links((0, 0), (1, 1), (2, 2))
    # sentence 1: 2 of 2 agree, sentence 2: 0 of 6; the mean of the rates would be 0.5
    rate = alignment_error_rate([right, wrong], [right, gold], [none, none])
    assert rate == pytest.approx(1 - 2 / 8)
    assert alignment_error_rate([gold], [gold], [gold]) == 0
    assert alignment_error_rate([none], [gold], [gold]) == 1
    assert alignment_error_rate([none], [none], [none]) == 0


def test_error_rate_wants_one_of_each():
    with pytest.raises(UserError, match="2 predicted, 1 sure and 1 possible"):
        alignment_error_rate([links(), links()], [links()], [links()])


def test_precision_and_recall_by_hand():
    # |A|=3, |S|=2, |A∩S|=1, |A∩P|=2
    predicted = links((0, 0), (1, 1), (2, 5))
    gold = Alignment(links((0, 0), (2, 2)), links((1, 1)))
    counts = count_links([predicted], [gold])
    assert counts == LinkCounts(3, 2, 1, 2)
    assert (counts.precision, counts.recall) == (pytest.approx(2 / 3), 0.5)
    rate, precision, recall = alignment_scores([predicted], [gold])
    assert [score.name for score in (rate, precision, recall)] == [
        "alignment_error_rate",
        "precision",
        "recall",
    ]
    assert rate.value == pytest.approx(40) and rate.better == "lower"
    assert precision.value == pytest.approx(200 / 3) and precision.better == "higher"
    assert recall.value == pytest.approx(50) and recall.interval is None


def test_without_possible_links_the_error_rate_is_one_minus_f1():
    predicted, gold = [links((0, 0), (1, 1), (2, 1))], [Alignment(links((0, 0), (1, 2)))]
    counts = count_links(predicted, gold)
    f1 = 2 * counts.precision * counts.recall / (counts.precision + counts.recall)
    assert counts.error_rate == pytest.approx(1 - f1)


def test_nothing_predicted_is_precise_and_finds_nothing():
    counts = count_links([links()], [Alignment(links((0, 0)))])
    assert (counts.precision, counts.recall, counts.error_rate) == (1, 0, 1)
    assert count_links([], []).error_rate == 0


def test_intervals_over_pairs():
    right, wrong = links((0, 0)), links((1, 0))
    gold = [Alignment(right)] * 100
    rate, *_ = alignment_scores([right] * 50 + [wrong] * 50, gold, resamples=200)
    assert rate.value == 50
    assert 35 < rate.interval.low < 50 < rate.interval.high < 65
    with pytest.raises(UserError, match="1 predicted and 100 gold alignments"):
        alignment_scores([right], gold)


def test_diagonal():
    assert diagonal(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal(6, 3) == {(1, 0), (3, 1), (5, 2)}
    assert diagonal(2, 4) == {(0, 0), (0, 1), (1, 2), (1, 3)}
    assert diagonal(0, 3) == frozenset()
    assert diagonal(3, 0) == frozenset()
    for source, target in [(1, 7), (7, 1), (40, 13), (13, 40)]:
        guess = diagonal(source, target)
        assert sorted(j for _, j in guess) == list(range(target))
        assert all(0 <= i < source for i, _ in guess)
        for i, j in guess:  # no source word is nearer to the diagonal
            nearest = min(abs((k + 0.5) / source - (j + 0.5) / target) for k in range(source))
            assert abs((i + 0.5) / source - (j + 0.5) / target) == pytest.approx(nearest)


def test_each_target_token_takes_its_heaviest_source_token():
    attention = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.0, 1.0, 0.0]]
    assert links_from_attention(attention, [0, 1, -1], [0, 1, 2]) == {(0, 0), (1, 2)}
    # token 1 looked at the end symbol: no link
    assert links_from_attention(attention, [0, 1, 2], [0, 1, -1]) == {(0, 0), (2, 1)}


def test_tokens_of_a_word_vote_together():
    # Argmax per token says 0, 0 and 1; the weights of the three together say 1.
    attention = [[0.5, 0.4, 0.1], [0.5, 0.4, 0.1], [0.0, 0.9, 0.1]]
    assert links_from_attention(attention, [0, 1, -1], [0, 0, 0]) == {(1, 0)}


def test_source_pieces_of_a_word_add_up_and_pieces_outside_words_compete_alone():
    attention = [[0.3, 0.3, 0.4, 0.0]]
    assert links_from_attention(attention, [0, 0, 1, -1], [0]) == {(0, 0)}
    # two spaces of 0.3 each are not one thing of 0.6
    assert links_from_attention([[0.3, 0.4, 0.3]], [-1, 0, -1], [0]) == {(0, 0)}
    assert links_from_attention([[0.45, 0.3, 0.25]], [-1, 0, 1], [0]) == frozenset()


def test_arrays_ties_and_nothing():
    attention = np.array([[0.5, 0.5], [0.5, 0.5]], dtype=np.float32)
    assert links_from_attention(attention, [0, 1], [0, 1]) == {(0, 0), (0, 1)}
    assert links_from_attention(np.zeros((0, 2)), [0, 1], []) == frozenset()
    assert links_from_attention([[]], [], [0]) == frozenset()


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="1 rows of attention for 2 tokens"):
        links_from_attention([[1.0]], [0], [0, 1])
    with pytest.raises(ValueError, match="2 weights in a row for 1 tokens"):
        links_from_attention([[0.5, 0.5]], [0], [0])
