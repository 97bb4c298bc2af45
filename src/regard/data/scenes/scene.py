"""Scene: what a picture shows, before anyone draws it or says it."""

from dataclasses import dataclass
from typing import Literal, get_args

Shape = Literal[
    "circle",
    "square",
    "triangle",
    "diamond",
    "star",
    "heart",
    "cross",
    "moon",
    "ring",
    "flower",
    "cloud",
    "drop",
]
Color = Literal["red", "orange", "yellow", "green", "blue", "purple", "pink", "black", "white"]
Size = Literal["small", "large"]
Place = Literal["top left", "top right", "bottom left", "bottom right", "center"]
Side = Literal["left", "right", "above", "below"]
Name = Place | Side | Literal["inside", "between"]

SHAPES: tuple[Shape, ...] = get_args(Shape)
COLORS: tuple[Color, ...] = get_args(Color)
SIZES: tuple[Size, ...] = get_args(Size)
PLACES: tuple[Place, ...] = get_args(Place)
FRAMES: tuple[Shape, ...] = ("circle", "square", "diamond", "heart", "ring", "cloud")

PICTURE_SIZE = 128
"""Width and height of a picture, in pixels."""

RADII: dict[Size | None, int] = {"small": 10, "large": 17, None: 50}
"""Half the side of the square a shape is drawn in, in pixels; None is a frame around another."""


@dataclass(frozen=True)
class Thing:
    """One shape, or a row of two or three equal ones that are spoken of together.

    size: None for a frame, which is as large as the picture allows and is not called large.
    centers: (x, y) of each shape in pixels from the top left, in the order they stand.
    """

    shape: Shape
    color: Color
    size: Size | None
    centers: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """How many shapes it is: 1, 2 or 3."""
        return len(self.centers)

    @property
    def radius(self) -> int:
        """Half the side of the square each shape is drawn in, in pixels."""
        return RADII[self.size]


@dataclass(frozen=True)
class Relation:
    """Where a thing is: in a place of the picture, or beside, inside or between other things.

    subject, anchors: indices into the scene's things; between has two anchors, the left or the
    upper one first; a place has none.
    """

    name: Name
    subject: int
    anchors: tuple[int, ...] = ()


@dataclass(frozen=True)
class Scene:
    """One to three things and the one or two relations that its description states.

    things[0] is what the sentence is about. Where there are two relations, the first is left or
    right and the second says that its anchor is above or below the third thing.
    """

    things: tuple[Thing, ...]
    relations: tuple[Relation, ...]
