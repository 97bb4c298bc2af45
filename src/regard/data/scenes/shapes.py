"""Shape: the outline of each shape as polygons, in a square from -1 to 1, y downwards."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

from regard.data.scenes.scene import Shape

Point = tuple[float, float]
POINTS = 120  # of a curved outline


@dataclass(frozen=True)
class Outline:
    """A polygon and the polygons that are cut out of it."""

    edge: tuple[Point, ...]
    holes: tuple[tuple[Point, ...], ...] = ()

    @cached_property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the polygon."""
        xs, ys = zip(*self.edge, strict=True)
        return min(xs), min(ys), max(xs), max(ys)


@cache
def outline(shape: Shape) -> Outline:
    """The outline of a shape, its middle at the origin."""
    edge, scale = _EDGES[shape]
    centered = _centered(edge(), scale)
    hole = _HOLES.get(shape)
    return Outline(centered, () if hole is None else (tuple(_polar(lambda _: hole)),))


def _centered(points: list[Point], scale: float) -> tuple[Point, ...]:
    """Move the middle of the extent to the origin, the longer half side becoming `scale`."""
    left, top, right, bottom = Outline(tuple(points)).extent
    factor = scale * 2 / max(right - left, bottom - top)
    x, y = (left + right) / 2, (top + bottom) / 2
    return tuple(((px - x) * factor, (py - y) * factor) for px, py in points)


def _polar(radius: Callable[[float], float], points: int = POINTS) -> list[Point]:
    """A closed curve around the origin from the top, clockwise; the angle is 0 at the top."""
    angles = [2 * math.pi * index / points for index in range(points)]
    return [(radius(a) * math.sin(a), -radius(a) * math.cos(a)) for a in angles]


def _circle() -> list[Point]:
    return _polar(lambda _: 1.0)


def _square() -> list[Point]:
    return [(-1, -1), (1, -1), (1, 1), (-1, 1)]


def _triangle() -> list[Point]:
    return _polar(lambda _: 1.0, 3)


def _diamond() -> list[Point]:
    return [(0, -1), (0.72, 0), (0, 1), (-0.72, 0)]


def _star() -> list[Point]:
    return _polar(lambda angle: 0.45 if round(angle / (math.pi / 5)) % 2 else 1.0, 10)


def _heart() -> list[Point]:
    points = []
    for index in range(POINTS):
        t = 2 * math.pi * index / POINTS
        y = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
        points.append((16 * math.sin(t) ** 3, -y))
    return points


def _cross() -> list[Point]:
    arm = 0.35
    quarter = [(arm, -1.0), (arm, -arm), (1.0, -arm)]
    turned = [quarter]
    for _ in range(3):
        turned.append([(-y, x) for x, y in turned[-1]])
    return [point for corner in turned for point in corner]


def _moon() -> list[Point]:
    """A crescent open to the right: a disc without a smaller one that covers its right side."""
    offset, radius = 0.5, 0.78
    x = (1 + offset**2 - radius**2) / (2 * offset)  # where the two circles meet
    outer, inner = math.acos(x), math.atan2(math.sqrt(1 - x * x), x - offset)
    half = POINTS // 2
    points = []
    for index in range(half + 1):  # from the upper tip round the back to the lower one
        angle = outer + (2 * math.pi - 2 * outer) * index / half
        points.append((math.cos(angle), -math.sin(angle)))
    for index in range(1, half):  # and back along the inner edge
        angle = 2 * math.pi - inner - (2 * math.pi - 2 * inner) * index / half
        points.append((offset + radius * math.cos(angle), -radius * math.sin(angle)))
    return points


def _flower() -> list[Point]:
    """Six round petals."""
    angles = [math.pi * index / 3 for index in range(6)]
    petals = [(0.64 * math.sin(a), -0.64 * math.cos(a), 0.36) for a in angles]
    return _around([*petals, (0.0, 0.0, 0.5)])


def _cloud() -> list[Point]:
    puffs = [(-0.55, 0.15, 0.42), (0.58, 0.15, 0.4), (-0.12, -0.25, 0.5), (0.3, -0.1, 0.42)]
    return _around([*puffs, (0.0, 0.25, 0.34)])


def _around(discs: list[tuple[float, float, float]]) -> list[Point]:
    """The outline of discs (x, y, radius) seen from the middle: where a ray leaves the last."""

    def leaves(angle: float) -> float:
        dx, dy = math.sin(angle), -math.cos(angle)
        reach = 0.0
        for x, y, radius in discs:
            along = x * dx + y * dy
            under = radius**2 - (x * x + y * y - along**2)
            if under >= 0:
                reach = max(reach, along + math.sqrt(under))
        return reach

    return _polar(leaves, 2 * POINTS)


def _drop() -> list[Point]:
    points = []
    for index in range(POINTS):
        t = 2 * math.pi * index / POINTS
        points.append((0.85 * math.sin(t) * math.sin(t / 2) ** 1.6, -math.cos(t)))
    return points


_EDGES: dict[Shape, tuple[Callable[[], list[Point]], float]] = {
    "circle": (_circle, 0.95),
    "square": (_square, 0.86),
    "triangle": (_triangle, 1.0),
    "diamond": (_diamond, 1.0),
    "star": (_star, 1.0),
    "heart": (_heart, 1.0),
    "cross": (_cross, 0.95),
    "moon": (_moon, 1.0),
    "ring": (_circle, 1.0),
    "flower": (_flower, 1.0),
    "cloud": (_cloud, 1.0),
    "drop": (_drop, 1.0),
}
_HOLES: dict[Shape, float] = {"ring": 0.5, "flower": 0.24}
