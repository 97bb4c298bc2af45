"""Simple scenes: one or two single shapes of few kinds, which a small model learns in a minute."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from regard.data.scenes.description import scene_text
from regard.data.scenes.generator import draw_scenes
from regard.data.scenes.scene import COLORS, SHAPES, Color, Scene, Shape
from regard.errors import UserError

FEW_SHAPES: tuple[Shape, ...] = ("circle", "square", "star")
FEW_COLORS: tuple[Color, ...] = ("red", "green", "blue", "yellow")
#: So many scenes are drawn for each one that is wanted, at most.
_DRAWN = 24


def simple_scenes(count: int, seed: int) -> list[Scene]:
    """`count` scenes of one or two single things, no two described alike in English.

    Scenes as others are, but for rows of shapes, a third thing, and most shapes and colors; those
    of a smaller count are the first of them. Raises UserError where there are not that many.
    """
    found: dict[str, Scene] = {}
    for scene in _simple(islice(draw_scenes(seed), _DRAWN * count)):
        found.setdefault(scene_text(scene, "en"), scene)
        if len(found) == count:
            return list(found.values())
    raise UserError(f"there are {len(found)} different simple scenes; {count} were asked for")


def _simple(scenes: Iterable[Scene]) -> Iterator[Scene]:
    for scene in scenes:
        if len(scene.things) > 2 or any(thing.count > 1 for thing in scene.things):
            continue
        things = tuple(
            replace(
                thing,
                shape=FEW_SHAPES[SHAPES.index(thing.shape) % len(FEW_SHAPES)],
                color=FEW_COLORS[COLORS.index(thing.color) % len(FEW_COLORS)],
            )
            for thing in scene.things
        )
        if len({(thing.shape, thing.color, thing.size) for thing in things}) == len(things):
            yield replace(scene, things=things)
