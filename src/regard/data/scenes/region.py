"""Region: where in the picture the noun of a description is."""

import math
from dataclasses import dataclass

from regard.data.scenes import english
from regard.data.scenes.scene import Scene, Thing
from regard.data.scenes.shapes import outline


@dataclass(frozen=True)
class Region:
    """The place of one noun of the English description.

    word: index of the noun among the words; phrase: indices of its first word and the one after
        its last ("a small blue star").
    box: left, top, right, bottom in pixels, around every shape of the thing; right and bottom are
        the first pixels outside.
    center: (x, y), the middle of the box, in pixels.
    """

    word: int
    noun: str
    phrase: tuple[int, int]
    box: tuple[int, int, int, int]
    center: tuple[float, float]


def regions(scene: Scene) -> list[Region]:
    """The regions of a scene's nouns, in the order of its English description."""
    words = english.describe(scene)
    found = []
    for position, word in enumerate(words):
        owner = word.roles[0].partition(".") if word.roles else ("", "", "")
        if owner[2] != "noun":
            continue
        phrase = [i for i, other in enumerate(words) if _belongs(other.roles, owner[0])]
        thing = scene.things[int(owner[0])]
        left, top, right, bottom = box = thing_box(thing)
        center = ((left + right) / 2, (top + bottom) / 2)
        found.append(Region(position, thing.shape, (phrase[0], phrase[-1] + 1), box, center))
    return found


def thing_box(thing: Thing) -> tuple[int, int, int, int]:
    """The smallest whole-pixel box around a thing: left, top, right, bottom (last two outside)."""
    left, top, right, bottom = outline(thing.shape).extent
    xs, ys = zip(*thing.centers, strict=True)
    return (
        math.floor(min(xs) + left * thing.radius),
        math.floor(min(ys) + top * thing.radius),
        math.ceil(max(xs) + right * thing.radius),
        math.ceil(max(ys) + bottom * thing.radius),
    )


def _belongs(roles: tuple[str, ...], owner: str) -> bool:
    return any(role.partition(".")[0] == owner for role in roles)
