"""The pictures show what the relations say, and nothing is said twice."""

from collections import Counter

import pytest

from regard.data.scenes import (
    LANGUAGES,
    Scene,
    Thing,
    count_descriptions,
    generate_scenes,
    generator,
    scene_text,
)
from regard.data.scenes.region import thing_box
from regard.data.scenes.scene import COLORS, FRAMES, PICTURE_SIZE, PLACES, SHAPES, SIZES
from regard.data.scenes.shapes import outline
from regard.errors import UserError

from .drawn import drawn

MIDDLE = PICTURE_SIZE / 2


def test_same_seed_same_scenes_and_a_smaller_count_is_their_beginning() -> None:
    scenes = generate_scenes(400, 3)
    assert scenes == generate_scenes(400, 3)
    assert scenes[:150] == generate_scenes(150, 3)
    assert scenes != generate_scenes(400, 4)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_description_comes_twice_in_any_language(language: str) -> None:
    texts = [scene_text(scene, language) for scene in drawn()]
    assert len(set(texts)) == len(texts)


def test_everything_that_can_be_said_is() -> None:
    things = [thing for scene in drawn() for thing in scene.things]
    assert {thing.shape for thing in things} == set(SHAPES)
    assert {thing.color for thing in things} == set(COLORS)
    assert {thing.size for thing in things} == {*SIZES, None}
    assert {thing.count for thing in things} == {1, 2, 3}
    frames = {thing.shape for thing in things if thing.size is None}
    assert frames == set(FRAMES)
    names = Counter(relation.name for scene in drawn() for relation in scene.relations)
    assert set(names) == {*PLACES, "left", "right", "above", "below", "inside", "between"}
    assert Counter(len(scene.things) for scene in drawn()).keys() == {1, 2, 3}


def test_things_differ_and_stay_in_the_picture_and_apart() -> None:
    for scene in drawn():
        looks = [(thing.shape, thing.color, thing.size) for thing in scene.things]
        assert len(set(looks)) == len(looks)
        boxes = [_box(center, thing) for thing in scene.things for center in thing.centers]
        assert all(min(box) >= 0 and max(box) <= PICTURE_SIZE for box in boxes)
        if scene.relations[0].name != "inside":
            for index, box in enumerate(boxes):
                assert all(_apart(box, other) for other in boxes[index + 1 :]), scene


def test_relations_are_what_the_positions_say() -> None:
    for scene in drawn():
        relation = scene.relations[0]
        boxes = [thing_box(thing) for thing in scene.things]
        if relation.name in PLACES:
            assert _place(boxes[0]) == relation.name
        elif relation.name == "between":
            first, middle, last = boxes[1], boxes[0], boxes[2]
            sides = [(_side(first, middle), _side(middle, last))]
            assert sides[0] in (("left", "left"), ("above", "above")), scene
        elif relation.name == "inside":
            assert _inside(scene.things[0], scene.things[1]), scene
        else:
            assert _side(boxes[0], boxes[1]) == relation.name, scene
        if len(scene.relations) == 2:
            assert relation.name in ("left", "right")
            assert scene.relations[1].subject == 1
            assert _side(boxes[1], boxes[2]) == scene.relations[1].name, scene


def test_the_anchor_is_the_thing_nearest_to_the_middle() -> None:
    for scene in drawn():
        if scene.relations[0].name not in ("left", "right", "above", "below", "between"):
            continue
        distances = [_from_middle(thing) for thing in scene.things]
        nearest = 0 if scene.relations[0].name == "between" else 1
        assert min(distances) == distances[nearest], scene


def test_more_scenes_than_there_are_is_refused_and_all_of_them_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(generator, "SHAPES", ("star",))
    monkeypatch.setattr(generator, "COLORS", ("red", "blue"))
    monkeypatch.setattr(generator, "FRAMES", ("circle",))
    total = count_descriptions()
    assert total == 5 * 4 + 4 * 3 * 12 + 2 * 2 + 3 * 24 + 4 * 5 * 24
    everything = generate_scenes(total, 1)
    assert len({scene_text(scene, "en") for scene in everything}) == total
    with pytest.raises(UserError, match=f"{total} different scenes, {total + 1} were asked for"):
        generate_scenes(total + 1, 1)


def _box(center: tuple[int, int], thing: Thing) -> tuple[int, int, int, int]:
    return thing_box(Thing(thing.shape, thing.color, thing.size, (center,)))


def _apart(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """At least a pixel lies between the two, so that neither touches the other."""
    return any(
        low[edge + 2] + 1 <= high[edge]
        for low, high in ((one, other), (other, one))
        for edge in (0, 1)
    )


def _side(subject: tuple[int, ...], anchor: tuple[int, ...]) -> str | None:
    """Where a box is, seen from another one in line with it."""
    in_row = subject[1] < anchor[3] and anchor[1] < subject[3]
    in_column = subject[0] < anchor[2] and anchor[0] < subject[2]
    if in_row and not in_column:
        return "left" if subject[2] <= anchor[0] else "right"
    if in_column and not in_row:
        return "above" if subject[3] <= anchor[1] else "below"
    return None


def _place(box: tuple[int, ...]) -> str:
    third = PICTURE_SIZE / 3
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    rows = ["top", "", "bottom"][int(y / third)], ["left", "", "right"][int(x / third)]
    return " ".join(rows) if any(rows) else "center"


def _from_middle(thing: Thing) -> float:
    left, top, right, bottom = thing_box(thing)
    return abs((left + right) / 2 - MIDDLE) + abs((top + bottom) / 2 - MIDDLE)


def _inside(subject: Thing, frame: Thing) -> bool:
    """Every corner of the subject is in the frame; in a ring's case, in the hole of the ring."""
    shape = outline(frame.shape)
    around = shape.holes[0] if frame.shape == "ring" else shape.edge
    (x, y), (frame_x, frame_y) = subject.centers[0], frame.centers[0]
    corners = [
        (
            (x + px * subject.radius - frame_x) / frame.radius,
            (y + py * subject.radius - frame_y) / frame.radius,
        )
        for px, py in outline(subject.shape).edge
    ]
    return all(_contains(around, corner) for corner in corners)


def _contains(polygon: tuple[tuple[float, float], ...], point: tuple[float, float]) -> bool:
    inside = False
    for (x1, y1), (x2, y2) in zip(polygon, (*polygon[1:], polygon[0]), strict=True):
        if (y1 > point[1]) != (y2 > point[1]):
            inside ^= point[0] < (x2 - x1) * (point[1] - y1) / (y2 - y1) + x1
    return inside


def test_the_tests_own_geometry() -> None:
    square = ((0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0))
    assert _contains(square, (1, 1))
    assert not _contains(square, (3, 1))
    assert _side((0, 0, 2, 2), (5, 1, 7, 3)) == "left"
    assert _side((0, 0, 2, 2), (1, 5, 3, 7)) == "above"
    assert _side((0, 0, 2, 2), (5, 5, 7, 7)) is None
    assert not _apart((0, 0, 2, 2), (2, 0, 4, 2))
    scene = Scene((Thing("circle", "red", None, ((64, 64),)),), ())
    outside = Thing("star", "blue", "small", ((120, 64),))
    assert not _inside(outside, scene.things[0])
