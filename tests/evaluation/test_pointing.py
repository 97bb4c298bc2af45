import json

import numpy as np
import pytest
import torch

from regard.data.scenes import generate_scenes, regions
from regard.data.scenes.scene import PICTURE_SIZE
from regard.errors import UserError
from regard.evaluation import Noun, PointedNoun, grade_nouns, grade_pointing, phrase_tokens

SIZE = (PICTURE_SIZE, PICTURE_SIZE)
#: The upper left quarter of a picture, in a grid of 4 by 4.
QUARTER = (0, 0, 64, 64)


def peaks(*cells: tuple[int, int]) -> np.ndarray:
    """A map a token with almost everything in one cell of 4 by 4."""
    maps = np.full((len(cells), 4, 4), 0.1 / 15)
    for token, cell in enumerate(cells):
        maps[token][cell] = 0.9
    return maps


def graded(maps: object, *nouns: Noun) -> list[PointedNoun]:
    return grade_nouns(maps, nouns, SIZE)


def test_a_peak_inside_hits_and_one_outside_does_not() -> None:
    maps = peaks((0, 1), (3, 3))
    hit, miss = graded(maps, Noun((0, 1), QUARTER), Noun((1, 2), QUARTER))
    assert (hit.hit, miss.hit) == (1, 0)
    assert hit.inside == pytest.approx(0.9 + 3 * 0.1 / 15)
    assert miss.inside == pytest.approx(4 * 0.1 / 15)
    assert hit.chance == miss.chance == 4 / 16
    assert hit.center == 0


def test_a_noun_is_its_whole_phrase() -> None:
    # "a" looks elsewhere, strongly; "small" and "star" agree on a cell inside
    maps = np.zeros((3, 4, 4))
    maps[0, 3, 3], maps[1, 1, 1], maps[2, 1, 1] = 0.9, 0.5, 0.5
    whole, article = graded(maps, Noun((0, 3), QUARTER), Noun((0, 1), QUARTER))
    assert (whole.hit, article.hit) == (1, 0)
    assert whole.inside == pytest.approx(1 / 1.9)


def test_even_attention_scores_what_chance_does() -> None:
    (flat,) = graded(np.full((2, 4, 4), 1 / 16), Noun((0, 2), QUARTER))
    assert flat.hit == flat.inside == flat.chance == 0.25
    (nothing,) = graded(np.zeros((2, 4, 4)), Noun((0, 2), QUARTER))
    assert (nothing.hit, nothing.inside) == (0.25, 0)


def test_equal_peaks_count_their_share() -> None:
    maps = peaks((0, 0), (3, 3))
    (noun,) = graded(maps, Noun((0, 2), QUARTER))
    assert noun.hit == 0.5


def test_scale_and_kind_of_the_numbers_do_not_matter() -> None:
    maps = peaks((0, 1), (2, 2))
    noun = Noun((0, 2), QUARTER)
    first = graded(maps, noun)
    assert graded(maps.tolist(), noun) == first
    assert graded(torch.from_numpy(maps), noun) == first
    assert graded(maps * 4, noun)[0].inside == pytest.approx(first[0].inside)


def test_phrases_of_words_are_spans_of_tokens() -> None:
    words = [0, -1, 1, 1, 2, -1, 3, -1]
    assert phrase_tokens(words, (0, 2)) == (0, 4)
    assert phrase_tokens(words, (1, 3)) == (2, 5)
    with pytest.raises(ValueError, match="no token belongs to the words 4 to 5"):
        phrase_tokens(words, (4, 6))


def scene_captions(kind: str) -> list[list[PointedNoun]]:
    """The nouns of scenes under a map that knows the boxes, that is drawn, or of the middle."""
    generator = np.random.default_rng(1)
    captions = []
    for scene in generate_scenes(300, 11):
        found = regions(scene)
        maps = generator.random((len(found), 7, 7))
        for at, region in enumerate(found):
            if kind == "right":
                x, y = region.center
                maps[at, int(y * 7 // PICTURE_SIZE), int(x * 7 // PICTURE_SIZE)] = 2
            if kind == "middle":
                maps[at, 3, 3] = 2
        nouns = [Noun((at, at + 1), region.box) for at, region in enumerate(found)]
        captions.append(grade_nouns(maps, nouns, SIZE))
    return captions


def test_scenes_tell_attention_that_knows_from_attention_that_guesses() -> None:
    right, drawn, middle = (
        grade_pointing(scene_captions(kind)) for kind in ("right", "drawn", "middle")
    )
    assert right.accuracy.value > 99
    assert drawn.accuracy.value == pytest.approx(drawn.chance, abs=4)
    assert drawn.inside.value == pytest.approx(drawn.chance, abs=1)
    assert middle.accuracy.value == pytest.approx(middle.center, abs=2)
    assert 2 < drawn.chance < 20 < middle.center < 60
    assert right.chance == drawn.chance and right.captions == 300
    assert right.nouns == sum(map(len, scene_captions("right")))


def test_every_noun_counts_the_same_and_captions_are_drawn_whole() -> None:
    hit, miss = PointedNoun(1, 0.8, 0.1, 1), PointedNoun(0, 0.2, 0.3, 0)
    pointing = grade_pointing([[hit, miss, miss], [hit], []] * 20, resamples=100)
    assert pointing.accuracy.value == 50
    assert pointing.inside.value == pytest.approx(50)
    assert (pointing.chance, pointing.center) == (pytest.approx(20), 50)
    assert (pointing.nouns, pointing.captions) == (80, 60)
    interval = pointing.accuracy.interval
    assert interval is not None and interval.low < 50 < interval.high
    assert grade_pointing([[hit, miss, miss], [hit], []] * 20, resamples=100) == pointing


def test_rows_and_json() -> None:
    pointing = grade_pointing([[PointedNoun(1, 0.5, 0.25, 0)]])
    assert pointing.rows() == [
        ("pointing_accuracy", 100.0),
        ("attention_inside", 50.0),
        ("chance", 25.0),
        ("center", 0.0),
    ]
    assert json.loads(json.dumps(pointing.as_dict())) == {
        "captions": 1,
        "nouns": 1,
        "metrics": {
            "pointing_accuracy": {"value": 100.0, "better": "higher"},
            "attention_inside": {"value": 50.0, "better": "higher"},
        },
        "chance": 25.0,
        "center": 0.0,
    }


@pytest.mark.parametrize(
    ("maps", "tokens", "said"),
    [
        (np.zeros((4, 4)), (0, 1), r"attention is \[tokens, rows, columns\]"),
        (np.zeros((0, 4, 4)), (0, 1), "attention is"),
        (np.full((1, 4, 4), np.nan), (0, 1), "not finite"),
        (np.full((1, 4, 4), -1.0), (0, 1), "negative"),
        (np.ones((2, 4, 4)), (1, 3), "tokens 1 to 2 of a caption of 2"),
        (np.ones((2, 4, 4)), (1, 1), "tokens 1 to 0"),
    ],
)
def test_what_cannot_be_graded(maps: object, tokens: tuple[int, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        graded(maps, Noun(tokens, QUARTER))


def test_no_nouns_at_all() -> None:
    with pytest.raises(UserError, match="no noun to grade attention by"):
        grade_pointing([[], []])
