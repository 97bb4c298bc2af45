import math
import time

import pytest

from regard.evaluation.captions import CiderD, DocumentFrequencies, cider_d_score
from regard.evaluation.captions.tokenized import Captions

# Three images: "a" is in all of them, "dog" in two, every other word in one.
REFERENCES = [["a dog runs"], ["a dog sleeps"], ["a cat"]]


def split(texts: list[str]) -> list[list[str]]:
    return [text.split() for text in texts]


FREQUENCIES = DocumentFrequencies.of([split(each) for each in REFERENCES])


def cider_d(caption: str, references: list[str]) -> float:
    metric = CiderD(FREQUENCIES)
    return metric.score(caption.split(), metric.prepare(split(references)))


def test_document_frequencies_count_images_and_not_references() -> None:
    twice = DocumentFrequencies.of([split(["a dog dog", "a dog"]), split(["a cat"])])
    assert (twice.images, twice.counts["dog",], twice.counts["a",]) == (2, 1, 2)
    assert twice.counts["dog", "dog"] == 1
    assert FREQUENCIES.weights["dog",] == pytest.approx(math.log(3 / 2))
    assert FREQUENCIES.weights["a",] == 0


def test_by_hand() -> None:
    # 1-grams: "a" weighs 0; dog log 1.5, runs and jumps log 3. 2-grams: "a dog" log 1.5, the
    # others log 3. 3-grams: both log 3, and different. 4-grams: none.
    dog, rare = math.log(1.5) ** 2, math.log(3) ** 2
    one = two = dog / (dog + rare)
    assert cider_d("a dog jumps", ["a dog runs"]) == pytest.approx(10 * (one + two) / 4)


def test_a_copy_of_the_only_reference_scores_ten_where_it_has_four_words() -> None:
    frequencies = DocumentFrequencies.of([split(["a red dog runs"]), split(["one cat"])])
    metric = CiderD(frequencies)
    reference = metric.prepare(split(["a red dog runs"]))
    assert metric.score(["a", "red", "dog", "runs"], reference) == pytest.approx(10)
    assert cider_d("a dog runs", ["a dog runs"]) == pytest.approx(7.5)  # no 4-grams


def test_repetition_is_clipped_and_length_is_charged() -> None:
    honest = cider_d("a dog runs", ["a dog runs"])
    assert cider_d("runs runs runs", ["a dog runs"]) < cider_d("x y runs", ["a dog runs"])
    longer = cider_d("a dog runs x x x x x x", ["a dog runs"])
    assert longer < math.exp(-36 / 72) * honest


def test_references_are_averaged() -> None:
    both = cider_d("a dog runs", ["a dog runs", "a cat"])
    assert both == pytest.approx(cider_d("a dog runs", ["a dog runs"]) / 2)


def test_ids_score_as_words_do() -> None:
    numbers = {"a": 7, "dog": 3, "runs": 11, "sleeps": 5, "cat": 1, "jumps": 99}

    def ids(text: str) -> list[int]:
        return [numbers[word] for word in text.split()]

    metric = CiderD(DocumentFrequencies.of([[ids(t) for t in each] for each in REFERENCES]))
    value = metric.score(ids("a dog jumps"), metric.prepare([ids("a dog runs")]))
    assert value == pytest.approx(cider_d("a dog jumps", ["a dog runs"]), abs=1e-15)


def test_given_frequencies_are_used_and_told() -> None:
    captions = Captions.cut(["a dog runs"], [["a dog runs"]])
    assert cider_d_score(captions).value == 0  # one image: no word is rarer than another
    score = cider_d_score(captions, FREQUENCIES)
    assert score.value == pytest.approx(75 * 10)
    assert score.signature is not None and score.signature.endswith("df:3 images")


def test_empty_captions_and_references() -> None:
    assert cider_d("", ["a dog runs"]) == 0
    assert cider_d("a dog runs", [""]) == 0
    with pytest.raises(ValueError, match="at least one reference"):
        CiderD(FREQUENCIES).prepare([])


def test_a_prepared_image_is_scored_fast() -> None:
    caption = list("abcdefghijkl")
    metric = CiderD(FREQUENCIES)
    reference = metric.prepare([caption[at:] + caption[:at] for at in range(5)])
    start = time.process_time()
    for _ in range(500):
        metric.score(caption, reference)
    assert time.process_time() - start < 500 * 0.002
