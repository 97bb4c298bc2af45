import math

import pytest

from regard.evaluation.captions import Captions, bleu_scores


def values(hypotheses: list[str], references: list[list[str]]) -> list[float]:
    return [score.value for score in bleu_scores(Captions.cut(hypotheses, references))]


def test_by_hand() -> None:
    # unigrams 6 of 7 ("the" twice in the first reference), bigrams 3 of 6, trigrams 1 of 5: no
    # 4-gram. Lengths 7 against 7 (the closest).
    caption = "the cat sat on the red mat"
    references = [["the cat sat there by the mat", "a cat is on the mat"]]
    one, two, three, four = values([caption], references)
    assert one == pytest.approx(100 * 6 / 7)
    assert two == pytest.approx(100 * math.sqrt(6 / 7 * 3 / 6))
    assert three == pytest.approx(100 * (6 / 7 * 3 / 6 * 1 / 5) ** (1 / 3))
    assert four == 0


def test_brevity_takes_the_closest_reference_and_of_two_the_shorter() -> None:
    caption = "a dog runs here"
    assert values([caption], [["a dog runs here now today", "a dog"]])[0] == pytest.approx(100)
    longer = values([caption], [["a dog runs here now today"]])[0]
    assert longer == pytest.approx(100 * math.exp(1 - 6 / 4))


def test_counts_are_those_of_the_corpus_and_not_means_of_images() -> None:
    one = values(["a b c d", "x"], [["a b c d"], ["y"]])[0]
    assert one == pytest.approx(100 * 4 / 5)


def test_nothing_said_and_marks_alone() -> None:
    assert values(["", "..."], [["a dog"], ["a cat"]]) == [0, 0, 0, 0]


def test_the_interval_holds_the_value_and_is_reproduced() -> None:
    captions = Captions.cut(
        ["a dog runs", "two cats sleep", "a man"] * 20,
        [["a dog is running"], ["two cats sleep here"], ["a man walks"]] * 20,
    )
    first, again = (bleu_scores(captions, resamples=200) for _ in range(2))
    assert first == again
    assert first[0].interval is not None
    assert first[0].interval.low < first[0].value < first[0].interval.high
    assert first[0].value == bleu_scores(captions)[0].value
