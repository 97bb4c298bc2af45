import pytest

from regard.evaluation.captions import Captions, rouge_l, rouge_l_score
from regard.evaluation.captions.rouge import longest_common


def test_by_hand() -> None:
    # "the cat on the mat": 5 words in common with a reference of 6, caption of 6
    caption = ["the", "cat", "lies", "on", "the", "mat"]
    reference = ["the", "cat", "is", "on", "the", "mat"]
    assert rouge_l(caption, [reference]) == pytest.approx(5 / 6)
    # P = 3/3, R = 3/6: (1 + 1.44) 1/2 / (1/2 + 1.44)
    assert rouge_l(["cat", "on", "mat"], [reference]) == pytest.approx(2.44 * 0.5 / (0.5 + 1.44))


def test_precision_and_recall_may_come_from_different_references() -> None:
    caption = list("abcdx")
    long, short = list("abcdefgh"), list("ab")
    # P = 4/5 from the long one, R = 2/2 from the short one
    assert rouge_l(caption, [long, short]) == pytest.approx(2.44 * 0.8 / (1 + 1.44 * 0.8))


def test_order_counts() -> None:
    assert longest_common(["a", "b", "c", "d"], ["d", "c", "b", "a"]) == 1
    assert longest_common("abcbdab", "bdcaba") == 4
    assert longest_common("", "abc") == longest_common("abc", "") == 0


def test_empty_captions_score_nothing() -> None:
    score = rouge_l_score(Captions.cut(["", "a dog", "."], [["a dog"], ["."], ["..."]]))
    assert score.value == 0


def test_the_score_is_the_mean_over_images() -> None:
    captions = Captions.cut(["a dog", "a cat", "x"], [["a dog"], ["the cat"], ["y"]])
    assert rouge_l_score(captions).value == pytest.approx(100 * (1 + 0.5 + 0) / 3)
