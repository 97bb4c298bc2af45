"""Every noun of a caption has a region, and it is where that thing is."""

from regard.data.scenes import Thing, regions, scene_text
from regard.data.scenes.region import thing_box

from .drawn import drawn, scene, singular


def test_nouns_are_found_by_their_words() -> None:
    shown = scene("right", "small red star", "large blue cross", "small pink drop", then="above")
    words = scene_text(shown, "en").split()
    found = regions(shown)
    assert [words[region.word] for region in found] == ["star", "cross,", "drop."]
    assert [region.noun for region in found] == ["star", "cross", "drop"]
    phrases = [" ".join(words[slice(*region.phrase)]) for region in found]
    assert phrases == ["A small red star", "the large blue cross,", "a small pink drop."]


def test_every_thing_has_one_region_in_the_order_of_the_caption() -> None:
    for shown in drawn():
        words = scene_text(shown, "en").split()
        found = regions(shown)
        assert len(found) == len(shown.things)
        assert [region.word for region in found] == sorted(region.word for region in found)
        for region, thing in zip(found, shown.things, strict=True):
            assert singular(words[region.word].strip(".,")) == thing.shape == region.noun
            assert region.box == thing_box(thing)
            start, end = region.phrase
            assert start < region.word == end - 1
            assert thing.color in words[start:end]


def test_the_box_counts_whole_pixels_and_the_center_is_its_middle() -> None:
    square = Thing("square", "red", "small", ((20, 30),))
    assert thing_box(square) == (11, 21, 29, 39)
    row = Thing("circle", "red", "large", ((20, 64), (58, 64)))
    assert thing_box(row) == (3, 47, 75, 81)
    (region,) = regions(scene("center", "small red square"))
    assert region.center == (40.0, 40.0)
