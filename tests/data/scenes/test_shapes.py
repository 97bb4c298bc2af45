"""Outlines fill the square they are drawn in, and no two look alike."""

import pytest

from regard.data.scenes.scene import SHAPES, Shape
from regard.data.scenes.shapes import outline


def _area(polygon: tuple[tuple[float, float], ...]) -> float:
    pairs = zip(polygon, (*polygon[1:], polygon[0]), strict=True)
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairs)) / 2


@pytest.mark.parametrize("shape", SHAPES)
def test_an_outline_is_centered_and_fills_its_square(shape: Shape) -> None:
    left, top, right, bottom = outline(shape).extent
    assert left + right == pytest.approx(0)
    assert top + bottom == pytest.approx(0)
    assert 0.85 <= max(right, bottom) <= 1.0000001
    assert min(right, bottom) > 0.5
    assert _area(outline(shape).edge) > 0.8


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hole_is_inside_the_edge(shape: Shape) -> None:
    nearest = min((x * x + y * y) ** 0.5 for x, y in outline(shape).edge)
    holes = outline(shape).holes
    assert bool(holes) == (shape in ("ring", "flower"))
    for hole in holes:
        assert max((x * x + y * y) ** 0.5 for x, y in hole) < nearest


@pytest.mark.parametrize(
    ("shape", "area"), [("circle", 3.14159 * 0.95**2), ("square", 1.72**2), ("diamond", 1.44)]
)
def test_areas_are_those_of_geometry(shape: Shape, area: float) -> None:
    assert _area(outline(shape).edge) == pytest.approx(area, rel=0.002)


def test_a_crescent_is_a_disc_without_a_disc() -> None:
    """The area of its polygon is the outer disc's less the lens that both discs cover."""
    from math import acos, pi, sqrt

    d, big, little = 0.5, 1.0, 0.78
    first = big**2 * acos((d * d + big**2 - little**2) / (2 * d * big))
    second = little**2 * acos((d * d + little**2 - big**2) / (2 * d * little))
    root = sqrt((-d + big + little) * (d + big - little) * (d - big + little) * (d + big + little))
    crescent = pi * big**2 - (first + second - root / 2)
    assert _area(outline("moon").edge) == pytest.approx(crescent, rel=0.01)
