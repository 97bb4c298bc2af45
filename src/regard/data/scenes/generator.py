"""Generator: scenes drawn from a seed, no two with the same description."""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import cast

from regard.data.scenes import english
from regard.data.scenes.scene import (
    COLORS,
    FRAMES,
    PICTURE_SIZE,
    PLACES,
    RADII,
    SHAPES,
    SIZES,
    Color,
    Name,
    Place,
    Relation,
    Scene,
    Shape,
    Side,
    Size,
    Thing,
)
from regard.data.scenes.words import text
from regard.errors import UserError

# A picture is three by three cells. Something stands in the middle one unless it is a place
# scene, so which thing is the anchor of "left of" is a matter of position alone.
CELLS = (23, 64, 105)
MIDDLE = CELLS[1]
REACH = 19  # no shape comes further than this from its cell's center lines
SWAY = 6  # nor is its middle further from them than this, so that lines of cells stay lines
GAP = 4  # between the shapes of a row
STEPS: dict[str, tuple[int, int]] = {
    "left": (-1, 0),
    "right": (1, 0),
    "above": (0, -1),
    "below": (0, 1),
}
OPPOSITE: dict[str, Side] = {"above": "below", "below": "above"}
KINDS = {"place": 6, "beside": 20, "stacked": 20, "inside": 10, "between": 20, "corner": 24}
COUNTS = (1, 2, 3)

Look = tuple[Shape, Color, Size]


def generate_scenes(count: int, seed: int) -> list[Scene]:
    """`count` scenes, no two described alike; those of a smaller count are the first of them.

    Raises UserError when there are not that many descriptions.
    """
    if count > count_descriptions():
        raise UserError(
            f"there are {count_descriptions()} different scenes, {count} were asked for; "
            "ask for fewer"
        )
    scenes: dict[str, Scene] = {}
    drawn = draw_scenes(seed)
    while len(scenes) < count:
        scene = next(drawn)
        scenes.setdefault(text(english.describe(scene)), scene)
    return list(scenes.values())


def draw_scenes(seed: int) -> Iterator[Scene]:
    """Scenes without end; some are described like earlier ones."""
    random = Random(seed)
    while True:
        yield _scene(random)


def count_descriptions() -> int:
    """How many different descriptions there are."""
    looks = len(SHAPES) * len(COLORS) * len(SIZES)
    counts = len(COUNTS)
    two, three = looks * (looks - 1), looks * (looks - 1) * (looks - 2)
    place = len(PLACES) * looks
    beside_or_stacked = 2 * 2 * counts * two
    inside = len(FRAMES) * len(COLORS) * len(SHAPES) * (len(COLORS) - 1) * len(SIZES)
    between = counts * three
    corner = 2 * 2 * (2 * counts - 1) * three
    return place + beside_or_stacked + inside + between + corner


def _scene(random: Random) -> Scene:
    (kind,) = random.choices(list(KINDS), list(KINDS.values()))
    if kind == "place":
        return _placed(random)
    if kind == "inside":
        return _inside(random)
    if kind == "between":
        return _between(random)
    return _beside(random, kind)


def _placed(random: Random) -> Scene:
    place = random.choice(PLACES)
    (look,) = _looks(random, 1)
    return Scene((_thing(random, look, _cell(place)),), (Relation(place, 0),))


def _cell(place: Place) -> tuple[int, int]:
    if place == "center":
        return MIDDLE, MIDDLE
    height, side = place.split()
    return CELLS[0 if side == "left" else 2], CELLS[0 if height == "top" else 2]


def _beside(random: Random, kind: str) -> Scene:
    """A subject beside an anchor in the middle; in a corner scene the anchor has a third thing."""
    sides: tuple[Side, ...] = ("above", "below") if kind == "stacked" else ("left", "right")
    side = random.choice(sides)
    looks = _looks(random, 3 if kind == "corner" else 2)
    counts = [random.choice(COUNTS), 1]
    if kind == "corner":
        counts = list(random.choice([c for c in product(COUNTS, COUNTS) if min(c) == 1]))
    subject = _row(random, looks[0], side, counts[0])
    anchor = _thing(random, looks[1], (MIDDLE, MIDDLE))
    relation = Relation(side, 0, (1,))
    if kind != "corner":
        return Scene((subject, anchor), (relation,))
    under = random.choice(("above", "below"))
    third = _row(random, looks[2], OPPOSITE[under], counts[1])
    second = Relation(cast(Name, under), 1, (2,))
    return Scene((subject, anchor, third), (relation, second))


def _between(random: Random) -> Scene:
    first, second = random.choice((("left", "right"), ("above", "below")))
    looks = _looks(random, 3)
    subject = _row(random, looks[0], first, random.choice(COUNTS), middle=True)
    before = _row(random, looks[1], first, 1)
    after = _row(random, looks[2], second, 1)
    return Scene((subject, before, after), (Relation("between", 0, (1, 2)),))


def _inside(random: Random) -> Scene:
    frame_color, color = random.sample(COLORS, 2)
    frame_at = (_near(random, MIDDLE, 8), _near(random, MIDDLE, 8))
    frame = Thing(random.choice(FRAMES), frame_color, None, (frame_at,))
    at = (_near(random, frame_at[0], 2), _near(random, frame_at[1], 2))
    subject = Thing(random.choice(SHAPES), color, random.choice(SIZES), (at,))
    return Scene((subject, frame), (Relation("inside", 0, (1,)),))


def _looks(random: Random, count: int) -> list[Look]:
    """Shape, color and size of things that differ from each other in at least one of them."""
    looks: list[Look] = []
    while len(looks) < count:
        look = (random.choice(SHAPES), random.choice(COLORS), random.choice(SIZES))
        if look not in looks:
            looks.append(look)
    return looks


def _row(random: Random, look: Look, side: str, count: int, *, middle: bool = False) -> Thing:
    """A thing on one side of the picture, or in the middle of that side's line.

    Several shapes stand in a line across the way to the middle, so that all are on that side.
    """
    step_x, step_y = (0, 0) if middle else STEPS[side]
    at = MIDDLE + step_x * (CELLS[2] - MIDDLE), MIDDLE + step_y * (CELLS[2] - MIDDLE)
    across = (0, 1) if side in ("left", "right") else (1, 0)
    return _thing(random, look, at, count, across)


def _thing(
    random: Random,
    look: Look,
    at: tuple[int, int],
    count: int = 1,
    across: tuple[int, int] = (0, 0),
) -> Thing:
    """A thing near a cell's center, clear of the cells around it and in line with them."""
    shape, color, size = look
    radius = RADII[size]
    sway = min(SWAY, REACH - radius)
    x, y = _near(random, at[0], sway), _near(random, at[1], sway)
    pitch = 2 * radius + GAP
    offsets = [index * pitch - (count - 1) * pitch // 2 for index in range(count)]
    centers = tuple((x + across[0] * offset, y + across[1] * offset) for offset in offsets)
    assert all(radius <= value <= PICTURE_SIZE - radius for point in centers for value in point)
    return Thing(shape, color, size, centers)


def _near(random: Random, value: int, distance: int) -> int:
    return value + random.randint(-distance, distance)
