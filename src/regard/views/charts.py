"""Small charts of a page, drawn as SVG: lines over numbers, and dots with their intervals.

Colors are those of the page's style sheet, so they follow the reader's light or dark scheme.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from regard.views.labels import printable

Point = tuple[float, float]

_WIDTH, _HEIGHT = 420.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 16.0, 30.0, 40.0
_TICKS = 5
_MOST_POINTS = 600  # of a line: more than there are pixels tell nothing


@dataclass(frozen=True)
class LineChart:
    """A line through points, in the order of x; every point has a tooltip where there are few.

    title: what goes up; x, y: names of the axes.
    """

    title: str
    x: str
    points: tuple[Point, ...]

    def svg(self) -> str:
        """The chart as an element of a page."""
        points = sorted(self.points)
        if len(points) > _MOST_POINTS:
            points = [points[i * len(points) // _MOST_POINTS] for i in range(_MOST_POINTS)]
        scale = Scale.of([x for x, _ in points], [y for _, y in points])
        places = [scale.place(point) for point in points]
        line = "L".join(f"{_n(x)} {_n(y)}" for x, y in places)
        parts = [f'<path d="M{line}" class="line" fill="none"/>']
        if len(points) <= 60:
            for (x, y), (left, top) in zip(points, places, strict=True):
                tip = f"{self.x} {_number(x)}: {_number(y)}"
                parts.append(_dot(left, top, tip))
        marks = [(scale.place((tick, scale.low[1]))[0], _number(tick)) for tick in scale.ticks(0)]
        return _framed(self.title, self.x, scale, marks, parts)


@dataclass(frozen=True)
class DotChart:
    """A dot with an interval for each of some groups, side by side.

    values: of each group a name, a figure, and its interval if there is one.
    """

    title: str
    x: str
    values: tuple[tuple[str, float, tuple[float, float] | None], ...]

    def svg(self) -> str:
        """The chart as an element of a page."""
        numbers = [end for _, value, interval in self.values for end in (interval or (value,))]
        numbers += [value for _, value, _ in self.values]
        scale = Scale.of([-0.5, len(self.values) - 0.5], numbers, exact=True)
        parts, marks = [], []
        for group, (name, value, interval) in enumerate(self.values):
            left, top = scale.place((group, value))
            tip = f"{name}: {_number(value)}"
            if interval is not None:
                ends = [scale.place((group, end))[1] for end in interval]
                tip += f" ({_number(interval[0])} to {_number(interval[1])})"
                parts.append(
                    f'<path d="M{_n(left)} {_n(ends[0])}V{_n(ends[1])}" class="line" fill="none"/>'
                )
            parts.append(_dot(left, top, tip))
            marks.append((left, name))
        return _framed(self.title, self.x, scale, marks, parts)


@dataclass(frozen=True)
class Scale:
    """Where numbers are in a chart, from the lowest to the highest of both axes."""

    low: Point
    high: Point

    @staticmethod
    def of(xs: Sequence[float], ys: Sequence[float], *, exact: bool = False) -> "Scale":
        """All of them, upwards to the next ticks; exact: x as it is."""
        sides = [(min(xs), max(xs)) if exact else _widened(xs), _widened(ys)]
        (left, right), (bottom, top) = sides
        return Scale((left, bottom), (right, top))

    def place(self, point: Point) -> Point:
        """In pixels."""
        x, y = (
            (value - low) / (high - low)
            for value, low, high in zip(point, self.low, self.high, strict=True)
        )
        left = _LEFT + x * (_WIDTH - _LEFT - _RIGHT)
        return left, _HEIGHT - _BOTTOM - y * (_HEIGHT - _TOP - _BOTTOM)

    def ticks(self, axis: int) -> list[float]:
        """Round numbers along an axis: 0 is x."""
        low, high = self.low[axis], self.high[axis]
        step = _step(low, high)
        return [
            step * number
            for number in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
        ]


def _widened(values: Sequence[float]) -> tuple[float, float]:
    """From the tick below all values to the one above; below 0 only where some value is."""
    low, high = min(values), max(values)
    if low == high:
        room = (abs(low) or 1.0) / 2
        low, high = (low - room if low else low), high + room
    step = _step(low, high)
    return floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step


def _step(low: float, high: float) -> float:
    """1, 2 or 5 times a power of ten, so that there are about `_TICKS` of it."""
    rough = (high - low) / _TICKS
    power = 10.0 ** floor(log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)


def _framed(
    title: str, x: str, scale: Scale, marks: Sequence[tuple[float, str]], parts: Sequence[str]
) -> str:
    """The axes with their names, and what is drawn over them."""
    size = f'width="{_n(_WIDTH)}" height="{_n(_HEIGHT)}"'
    name = escape(printable(f"{title} by {x}"))
    return "\n".join(
        (
            f'<svg class="chart" {size} viewBox="0 0 {_n(_WIDTH)} {_n(_HEIGHT)}" role="img" '
            f'aria-label="{name}">',
            f'<text x="{_n(_LEFT)}" y="16" class="title">{escape(printable(title))}</text>',
            *_up(scale),
            *_along(marks),
            f'<text x="{_n((_LEFT + _WIDTH - _RIGHT) / 2)}" y="{_n(_HEIGHT - 5)}" class="muted" '
            f'text-anchor="middle">{escape(printable(x))}</text>',
            *parts,
            "</svg>",
        )
    )


def _up(scale: Scale) -> Iterator[str]:
    for tick in scale.ticks(1):
        _, y = scale.place((scale.low[0], tick))
        yield f'<path d="M{_n(_LEFT)} {_n(y)}H{_n(_WIDTH - _RIGHT)}" class="rule" fill="none"/>'
        yield (
            f'<text x="{_n(_LEFT - 8)}" y="{_n(y + 4)}" class="muted" text-anchor="end">'
            f"{_number(tick)}</text>"
        )


def _along(marks: Sequence[tuple[float, str]]) -> Iterator[str]:
    y = _n(_HEIGHT - _BOTTOM + 16)
    for x, label in marks:
        shown = escape(printable(label))
        yield f'<text x="{_n(x)}" y="{y}" class="muted" text-anchor="middle">{shown}</text>'


def _dot(x: float, y: float, tip: str) -> str:
    said = escape(printable(tip))
    return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="3.5" class="dot"><title>{said}</title></circle>'


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _number(number: float) -> str:
    """Four digits at most behind the point, none that tell nothing."""
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.4g}" if number else "0"
