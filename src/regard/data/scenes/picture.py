"""Picture: a scene drawn as it is described, antialiased, with Pillow."""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING

from regard.data.images.pillow import pillow
from regard.data.scenes.scene import PICTURE_SIZE, Color, Scene, Shape
from regard.data.scenes.shapes import Point, outline

if TYPE_CHECKING:
    from PIL.Image import Image

BACKGROUND = (212, 220, 228)
FACES: dict[Color, tuple[int, int, int]] = {
    "red": (220, 38, 44),
    "orange": (250, 138, 24),
    "yellow": (250, 220, 50),
    "green": (40, 158, 72),
    "blue": (38, 92, 214),
    "purple": (122, 52, 170),
    "pink": (248, 152, 196),
    "black": (38, 40, 46),
    "white": (255, 255, 255),
}
FINENESS = 8  # shapes are drawn this many times larger and scaled down
LINE = 1.2  # width of the dark edge, in pixels
COMPRESSION = 3  # zlib's default takes twice as long to save a twentieth
MARGIN = 1  # empty pixels around a shape's square


def draw(scene: Scene) -> Image:
    """The picture of a scene, PICTURE_SIZE pixels square, RGB.

    Raises UserError naming the package when Pillow is not installed.
    """
    image: Image = pillow().new("RGB", (PICTURE_SIZE, PICTURE_SIZE), BACKGROUND)
    for thing in sorted(scene.things, key=lambda thing: -thing.radius):  # a frame goes under
        stamp, mask = _stamp(thing.shape, thing.color, thing.radius)
        reach = thing.radius + MARGIN
        for x, y in thing.centers:
            image.paste(stamp, (x - reach, y - reach), mask)
    return image


def png(scene: Scene) -> bytes:
    """The picture of a scene as a PNG file; same scene, same bytes."""
    buffer = io.BytesIO()
    draw(scene).save(buffer, format="PNG", compress_level=COMPRESSION)
    return buffer.getvalue()


@cache
def _stamp(shape: Shape, color: Color, radius: int) -> tuple[Image, Image]:
    """A shape's colors and its coverage, each 2 * (radius + MARGIN) pixels square."""
    covered, inner = _masks(shape, radius)
    face = FACES[color]
    edge = tuple(round(value * 0.45) for value in face)
    stamp: Image = pillow().new("RGB", covered.size, edge)
    stamp.paste(face, (0, 0), inner)
    return stamp, covered


@cache
def _masks(shape: Shape, radius: int) -> tuple[Image, Image]:
    """How much of each pixel a shape covers, and how much of it inside its dark edge."""
    from PIL import ImageDraw

    images = pillow()
    side = 2 * (radius + MARGIN)
    whole = images.new("L", (side * FINENESS, side * FINENESS), 0)
    polygons = outline(shape)

    def scaled(points: tuple[Point, ...]) -> list[Point]:
        middle, factor = side * FINENESS / 2, radius * FINENESS
        return [(middle + x * factor, middle + y * factor) for x, y in points]

    ImageDraw.Draw(whole).polygon(scaled(polygons.edge), fill=255)
    for hole in polygons.holes:
        ImageDraw.Draw(whole).polygon(scaled(hole), fill=0)
    inside = whole.copy()
    width = round(2 * LINE * FINENESS)  # half of it falls inside
    for points in map(scaled, (polygons.edge, *polygons.holes)):
        closed = [*points, points[0], points[1]]
        ImageDraw.Draw(inside).line(closed, fill=0, width=width, joint="curve")
    small = (side, side)
    return whole.resize(small, images.Resampling.BOX), inside.resize(small, images.Resampling.BOX)
