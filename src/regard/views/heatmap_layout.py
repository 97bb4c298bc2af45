"""Where everything in a heat map goes, in pixels; the SVG and the PNG are both drawn from it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, radians, sin

from regard.views.attention_view import AttentionView
from regard.views.labels import (
    display_width,
    is_right_to_left,
    printable,
    shortened,
    visible,
)

LONGEST_LABEL = 15.0  # ems; longer tokens are cut with an ellipsis
LEGEND_WIDTH = 110.0
SMALL = 11.0  # the size of captions
STRIP = 26.0  # how wide the strips of steps are
_MARGIN = 16.0
_GAP = 8.0  # between a label and the matrix
_STRIP_GAP = 6.0  # between the matrix and a strip
_ANGLE = 55.0
_HEADING = 16.0


@dataclass(frozen=True)
class HeatmapLayout:
    """A matrix of square cells with its labels, legend and heading.

    left, top: the corner of the matrix. `cell`: side of a cell. `angle`: degrees by which column
    labels rise, 0 when they fit over their columns. `right_to_left`: the first source token is the
    rightmost column. `value_size`: size of the figures inside cells, 0 when there is no room.
    `strip_below`, `strip_beside`: whether there is a strip of steps there.
    """

    width: float
    height: float
    left: float
    top: float
    cell: float
    font_size: float
    value_size: float
    angle: float
    column_labels: tuple[str, ...]
    row_labels: tuple[str, ...]
    right_to_left: bool
    heading: str
    heading_size: float
    strip_below: bool = False
    strip_beside: bool = False

    @property
    def right(self) -> float:
        return self.left + self.cell * len(self.column_labels)

    @property
    def bottom(self) -> float:
        return self.top + self.cell * len(self.row_labels)

    @property
    def strip_top(self) -> float:
        """The upper side of the strip below."""
        return self.bottom + _STRIP_GAP

    @property
    def strip_left(self) -> float:
        """The left side of the strip beside."""
        return self.right + _STRIP_GAP

    @property
    def beside(self) -> float:
        """Where what stands beside the matrix and its strip may start."""
        return self.right + _strip_room(self.strip_beside) + _GAP

    @property
    def legend_top(self) -> float:
        return self.bottom + _strip_room(self.strip_below) + 20

    def column_left(self, column: int) -> float:
        """The left side of a source token's column."""
        place = len(self.column_labels) - 1 - column if self.right_to_left else column
        return self.left + self.cell * place

    def row_top(self, row: int) -> float:
        """The upper side of an output token's row."""
        return self.top + self.cell * row


def lay_out(
    view: AttentionView,
    *,
    heading: bool = True,
    extent: float = 900.0,
    label: Callable[[str], str] = visible,
) -> HeatmapLayout:
    """Lay out a view; cells shrink from 40 to 8 pixels so that the matrix stays in `extent`.

    `label` turns a token into what is written for it.
    """
    columns, rows = len(view.source_tokens), len(view.tokens)
    cell = min(40.0, max(8.0, extent / max(columns, rows, 1)))
    font_size = min(14.0, max(6.0, cell * 0.7))
    column_labels = tuple(shortened(label(token), LONGEST_LABEL) for token in view.source_tokens)
    row_labels = tuple(shortened(label(token), LONGEST_LABEL) for token in view.tokens)
    widest_column = font_size * max(map(display_width, column_labels), default=0)
    widest_row = font_size * max(map(display_width, row_labels), default=0)
    angle = 0.0 if widest_column <= cell - 4 else _ANGLE
    title = printable(view.title) if heading else ""
    heading_size = _HEADING if title else 0.0
    left = _MARGIN + max(widest_row, SMALL * 4) + _GAP
    top = _MARGIN + heading_size * 1.8 + _label_height(widest_column, font_size, angle) + _GAP
    overhang = widest_column * cos(radians(angle)) - cell / 2 if angle else 0.0
    below, beside_it = bool(view.source_steps), bool(view.steps)
    beside = _strip_room(beside_it) + (SMALL * 4 if view.probabilities is not None else 0.0)
    width = left + cell * columns + max(overhang, beside, 0.0) + _MARGIN
    width = max(width, _MARGIN * 2 + LEGEND_WIDTH + SMALL * 14)
    return HeatmapLayout(
        width=width,
        height=top + cell * rows + _strip_room(below) + 20 + SMALL * 1.2 + _MARGIN,
        left=left,
        top=top,
        cell=cell,
        font_size=font_size,
        value_size=cell * 0.27 if cell >= 32 else 0.0,
        angle=angle,
        column_labels=column_labels,
        row_labels=row_labels,
        right_to_left=is_right_to_left(view.source),
        heading=shortened(title, (width - _MARGIN * 2) / _HEADING),
        heading_size=heading_size,
        strip_below=below,
        strip_beside=beside_it,
    )


def _strip_room(there_is_one: bool) -> float:
    return _STRIP_GAP + STRIP if there_is_one else 0.0


def _label_height(widest: float, font_size: float, angle: float) -> float:
    """The room that column labels take above the matrix, and the two captions of the corner."""
    if not angle:
        return max(font_size, SMALL * 2.6)
    return max(widest * sin(radians(angle)) + font_size * cos(radians(angle)), SMALL * 2.6)
