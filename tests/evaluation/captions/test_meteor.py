import pytest

from regard.evaluation.captions import Captions, caption_tokens, meteor_exact_stem_score
from regard.evaluation.captions.matching import Match, count_chunks, match_words
from regard.evaluation.captions.meteor import caption_counts, meteor, pair_counts
from regard.evaluation.captions.words import meteor_words, stem


def matched(caption: str, reference: str) -> list[tuple[int, int, bool]]:
    return [tuple(match) for match in match_words(caption.split(), reference.split())]


def score(caption: str, *references: str) -> float:
    return meteor(caption_counts(caption.split(), [each.split() for each in references]))


def test_by_hand() -> None:
    # the, on and the are function words (1/4 each), cat and mat weigh 3/4, and so do "sits" and
    # "stands". 5 matches in 2 chunks. P = R = 2.25/3.
    value = score("the cat sits on the mat", "the cat stands on the mat")
    assert value == pytest.approx(0.75 * (1 - 0.6 * (2 / 5) ** 0.2))
    # dogs/dog by stem: P = 0.6 (0.75) / (0.25 + 0.75 + 0.75), R = 0.45 / 0.75; one match, one chunk
    p, r = 0.45 / 1.75, 0.45 / 0.75
    mean = p * r / (0.85 * p + 0.15 * r)
    assert score("the dogs run", "dog") == pytest.approx(mean * (1 - 0.6))


def test_everything_matched_in_one_chunk_is_perfect() -> None:
    assert score("a dog runs", "a dog runs") == 1
    assert score("dogs", "dog") == pytest.approx(0.6)
    assert 0 < score("runs a dog", "a dog runs") < 1
    same = Captions.cut(["a dog runs", "a cat"], [["a dog runs"], ["a cat"]])
    assert meteor_exact_stem_score(same).value == 100
    assert score("cats", "dog") == score("", "dog") == score("dog", "") == 0


def test_exact_matches_come_before_those_of_stems() -> None:
    assert matched("dogs dog", "dog") == [(1, 0, True)]
    assert matched("dogs ran running", "dog runs") == [(0, 0, False), (2, 1, False)]
    assert matched("dog dogs", "dog dog") == [(0, 0, True), (1, 1, False)]


def test_chunks_are_as_few_as_they_can_be() -> None:
    # the second "a dog" continues what comes before it
    assert matched("a dog and a cat", "and a cat") == [(2, 0, True), (3, 1, True), (4, 2, True)]
    two = [Match(0, 0, True), Match(1, 1, True), Match(3, 2, True)]
    assert (count_chunks(two), count_chunks([]), count_chunks(two[:1])) == (2, 0, 1)


def test_the_best_reference_counts_and_of_equal_ones_the_first() -> None:
    words = ["a", "dog", "runs"]
    references = [["a", "cat"], ["a", "dog", "runs"], ["a", "dog"]]
    assert caption_counts(words, references) == pair_counts(words, references[1])
    nothing = caption_counts(["x"], [["y", "z"], ["y"]])
    assert nothing == pair_counts(["x"], ["y", "z"])


def test_a_corpus_is_scored_by_its_sums() -> None:
    captions = Captions.cut(["a dog runs", "cats sleep"], [["a dog runs"], ["a cat sleeps"]])
    counts = [
        caption_counts(*each) for each in zip(captions.hypotheses, captions.references, strict=True)
    ]
    whole = meteor([sum(column) for column in zip(*counts, strict=True)])
    found = meteor_exact_stem_score(captions, resamples=20)
    assert found.name == "meteor_exact_stem"
    assert found.value == pytest.approx(100 * whole)
    assert found.value != pytest.approx(50 * sum(map(meteor, counts)))
    assert found.interval is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a T-shirt and a jack-o-lantern", "a t shirt and a jack o-lantern"),
        ("the dog's toy isn't red", "the dog ' s toy is n 't red"),
        ("at 5 p.m. in the U.S. on St. Mary's", "at 5 pm in the us on st. mary ' s"),
        ("5:30, $5, 1,000 red/white", "5 : 30 $ 5 1,000 red / white"),
        ("on 5th St.", "on 5th st ."),
    ],
)
def test_words_are_cut_as_meteor_cuts_them(text: str, words: str) -> None:
    assert " ".join(meteor_words(caption_tokens(text))) == words


def test_stems() -> None:
    assert [stem(word) for word in ("running", "horses", "happily", "dog")] == [
        "run", "hors", "happili", "dog",
    ]  # fmt: skip
