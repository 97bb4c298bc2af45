"""Gold links join words that say the same thing of the same thing."""

import pytest

from regard.data.scenes import Scene, scene_alignments, scene_text
from regard.evaluation import alignment_error_rate, diagonal, parse_links

from .drawn import drawn, scene, singular

# Written by hand, looking at the two sentences.
EXAMPLES = [
    (
        # A small blue star is to the left of the large red circle.
        # Links von dem großen roten Kreis befindet sich ein kleiner blauer Stern.
        scene("left", "small blue star", "large red circle"),
        "de",
        "0-8 1-9 2-10 3-11 4-6 4p7 5p0 6p0 7-0 8-1 9-2 10-3 11-4 12-5 12p11",
    ),
    (
        # À gauche du grand cercle rouge se trouve une petite étoile bleue.
        scene("left", "small blue star", "large red circle"),
        "fr",
        "0-8 1-9 2-11 3-10 4p6 4-7 5-0 5p1 6p0 6p1 7p0 7-1 8-2 9-2 10-3 11-5 12-4 12p11",
    ),
    (
        # There is a small pink drop above the large orange cloud.
        # Au-dessus du grand nuage orange, il y a une petite goutte rose.
        scene("above", "small pink drop", "large orange cloud"),
        "fr",
        "0-5 0p6 1p6 1-7 2-8 3-9 4-11 5-10 6-0 6p1 7-1 8-2 9-4 10-3 10p11",
    ),
    (
        # A large white moon is inside the red circle.
        # Der rote Kreis umschließt einen großen weißen Mond.
        scene("inside", "large white moon", "red circle"),
        "de",
        "0-4 1-5 2-6 3-7 4p3 5-3 6-0 7-1 8-2 8p7",
    ),
    (
        # A small red heart is in the top left corner.
        # In der linken oberen Ecke befindet sich ein kleines rotes Herz.
        scene("top left", "small red heart"),
        "de",
        "0-7 1-8 2-9 3-10 4-5 4p6 5-0 6-1 7-3 8-2 9-4 9p10",
    ),
    (
        # A small black diamond is inside the pink ring.
        # L'anneau rose entoure un petit losange noir.
        scene("inside", "small black diamond", "pink ring"),
        "fr",
        "0-3 1-4 2-6 3-5 4p2 5-2 6-0 7-1 8-0 8p6",
    ),
    (
        # A small blue star is to the left of the large red circle, which is above a small green
        # cross.
        # Links von dem großen roten Kreis, der über einem kleinen grünen Kreuz liegt, befindet
        # sich ein kleiner blauer Stern.
        scene("left", "small blue star", "large red circle", "small green cross", then="above"),
        "de",
        "0-15 1-16 2-17 3-18 4-13 4p14 5p0 6p0 7-0 8-1 9-2 10-3 11-4 12-5 13-6 14-12 15-7 16-8 "
        "17-9 18-10 19-11 19p18",
    ),
]


@pytest.mark.parametrize(("shown", "target", "links"), EXAMPLES)
def test_examples(shown: Scene, target: str, links: str) -> None:
    assert scene_alignments([shown], "en", target)[0] == parse_links(links)


@pytest.mark.parametrize("target", ["de", "fr"])
def test_links_are_sound(target: str) -> None:
    for shown, gold in zip(drawn(), scene_alignments(drawn(), "en", target), strict=True):
        source_length = len(scene_text(shown, "en").split())
        target_length = len(scene_text(shown, target).split())
        links = gold.sure | gold.possible
        assert not gold.sure & gold.possible
        assert {i for i, _ in links} == set(range(source_length)), "a word without a link"
        linked = {j for _, j in links}
        assert linked == set(range(target_length)), "a word without a link"
        assert parse_links(gold.pharaoh()) == gold


@pytest.mark.parametrize("target", ["de", "fr"])
def test_the_other_direction_is_the_same_links(target: str) -> None:
    there = scene_alignments(drawn(), "en", target)
    back = scene_alignments(drawn(), target, "en")
    for one, other in zip(there, back, strict=True):
        assert {(j, i) for i, j in one.sure} == other.sure
        assert {(j, i) for i, j in one.possible} == other.possible


MEANINGS = {
    "star": "Stern étoile",
    "circle": "Kreis cercle",
    "moon": "Mond lune",
    "heart": "Herz cœur",
    "cross": "Kreuz croix",
    "red": "rot rouge",
    "white": "weiß blanc",
    "purple": "violett violet",
    "orange": "orange orange",
    "small": "klein petit",
    "large": "groß grand",
    "two": "zwei deux",
    "three": "drei trois",
    "left": "link gauche",
    "and": "und et",
    "corner": "Ecke coin",
}


@pytest.mark.parametrize(("target", "column"), [("de", 0), ("fr", 1)])
def test_sure_links_of_content_words_are_translations(target: str, column: int) -> None:
    checked = set()
    for shown, gold in zip(drawn(), scene_alignments(drawn(), "en", target), strict=True):
        source, other = scene_text(shown, "en").split(), scene_text(shown, target).split()
        for i, word in enumerate(source):
            meaning = MEANINGS.get(singular(word.strip(".,").lower()))
            if meaning is None:
                continue
            partners = [other[j] for k, j in gold.sure if k == i]
            assert len(partners) == 1, (source, other, word)
            assert meaning.split()[column].lower() in partners[0].lower(), (word, partners)
            checked.add(meaning)
    assert len(checked) == len(MEANINGS)


@pytest.mark.parametrize("target", ["de", "fr"])
def test_the_diagonal_is_a_bad_guess(target: str) -> None:
    gold = scene_alignments(drawn(), "en", target)
    guess = [
        diagonal(len(scene_text(shown, "en").split()), len(scene_text(shown, target).split()))
        for shown in drawn()
    ]
    sure, possible = [one.sure for one in gold], [one.possible for one in gold]
    assert alignment_error_rate(guess, sure, possible) > 0.6
    assert alignment_error_rate(sure, sure, possible) == 0
