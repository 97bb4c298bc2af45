"""Attention as a PNG, drawn by matplotlib to the same layout as the SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regard.views.attention_view import AttentionView
from regard.views.drawing import Fonts, Pen, Sheet
from regard.views.heatmap_layout import LEGEND_WIDTH, SMALL, STRIP, HeatmapLayout, lay_out
from regard.views.labels import printable, visible
from regard.views.palette import ACCENT, EMPTY, INK, MUTED, PAPER, STEPS
from regard.views.steps_strip import steps_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CENTERED: dict[str, Any] = {"horizontalalignment": "center"}
_TO_THE_LEFT: dict[str, Any] = {"horizontalalignment": "right"}


def attention_png(view: AttentionView, *, scale: float = 2.0) -> bytes:
    """A view as PNG bytes, `scale` pixels a unit of the layout (less for very large matrices).

    Characters that no font of this computer has outlines of are written as codes, `‹U+1F642›`.
    """
    labels = map(visible, (*view.source_tokens, *view.tokens))
    fonts = Fonts.of([*labels, printable(view.title)])
    layout = lay_out(view, label=lambda token: fonts.coded(visible(token)))
    sheet = Sheet(layout.width, layout.height, scale)
    _draw_matrix(sheet.axes, view, layout, sheet.scale)
    pen = Pen(sheet.axes, sheet.scale, fonts.families)
    _draw_labels(pen, layout, fonts.coded(layout.heading))
    _draw_figures(pen, view, layout)
    _draw_steps(pen, view, layout)
    _draw_legend(sheet.axes, pen, layout)
    return sheet.png()


def _draw_matrix(axes: Axes, view: AttentionView, layout: HeatmapLayout, scale: float) -> None:
    from matplotlib.collections import LineCollection

    rows = [row[::-1] if layout.right_to_left else row for row in view.attention]
    extent = (layout.left, layout.right, layout.bottom, layout.top)
    if rows and rows[0]:
        _shade(axes, rows, extent)
    lines = [
        [(x, layout.top), (x, layout.bottom)]
        for x in map(layout.column_left, range(len(layout.column_labels)))
        if x > layout.left
    ]
    lines += [
        [(layout.left, y), (layout.right, y)]
        for y in map(layout.row_top, range(1, len(layout.row_labels)))
    ]
    thickness = min(1.5, layout.cell / 16) * scale * 0.72
    axes.add_collection(LineCollection(lines, colors=PAPER, linewidths=thickness))


def _shade(axes: Axes, rows: Any, extent: tuple[float, float, float, float]) -> None:
    """Weights as colors over left, right, bottom, top."""
    from matplotlib.colors import LinearSegmentedColormap

    ramp = LinearSegmentedColormap.from_list("weight", [EMPTY, ACCENT], N=1024)
    axes.imshow(
        rows, extent=extent, aspect="auto", cmap=ramp, vmin=0, vmax=1, interpolation="nearest"
    )


def _draw_labels(pen: Pen, layout: HeatmapLayout, heading: str) -> None:
    if heading:
        pen.write_heading(heading, layout.heading_size)
    source = "← source" if layout.right_to_left else "source →"
    corner = layout.left - 8
    pen.write(corner, layout.top - 8 - SMALL * 1.4, source, SMALL, MUTED, **_TO_THE_LEFT)
    pen.write(corner, layout.top - 8, "output ↓", SMALL, MUTED, **_TO_THE_LEFT)
    for index, label in enumerate(layout.column_labels):
        x, y = layout.column_left(index) + layout.cell / 2, layout.top - 8
        if layout.angle:
            x += layout.font_size * 0.25
            turned: dict[str, Any] = {"rotation": layout.angle, "rotation_mode": "anchor"}
            pen.write(x, y, label, layout.font_size, **turned)
        else:
            pen.write(x, y, label, layout.font_size, **_CENTERED)
    for index, label in enumerate(layout.row_labels):
        y = layout.row_top(index) + layout.cell / 2 + layout.font_size * 0.35
        pen.write(corner, y, label, layout.font_size, **_TO_THE_LEFT)


def _draw_figures(pen: Pen, view: AttentionView, layout: HeatmapLayout) -> None:
    if layout.value_size:
        for row, weights in enumerate(view.attention):
            for column, weight in enumerate(weights):
                if weight >= 0.05:
                    x = layout.column_left(column) + layout.cell / 2
                    y = layout.row_top(row) + layout.cell / 2 + layout.value_size * 0.36
                    color = (MUTED, INK, PAPER)[(weight > 0.2) + (weight > 0.5)]
                    pen.write(x, y, f"{weight:.2f}", layout.value_size, color, **_CENTERED)
    if view.probabilities is not None:
        size, x = min(SMALL, layout.font_size), layout.beside
        pen.write(x, layout.top - 8, "p", size, MUTED, style="italic")
        for row, probability in enumerate(view.probabilities):
            y = layout.row_top(row) + layout.cell / 2 + layout.font_size * 0.3
            pen.write(x, y, f"{probability:.2f}", size, MUTED)


def _draw_steps(pen: Pen, view: AttentionView, layout: HeatmapLayout) -> None:
    from matplotlib.patches import Rectangle

    size = min(SMALL, layout.font_size)
    if layout.strip_below:
        y = layout.strip_top + STRIP / 2 + size * 0.35
        pen.write(layout.left - 8, y, "steps", size, MUTED, **_TO_THE_LEFT)
    if layout.strip_beside:
        pen.write(layout.strip_left, layout.top - 8, "steps", size, MUTED)
    for cell in steps_cells(view, layout):
        looks: dict[str, Any] = {"facecolor": STEPS, "alpha": cell.share, "linewidth": 0}
        corner = (cell.x + 0.5, cell.y + 0.5)
        pen.axes.add_patch(Rectangle(corner, cell.width - 1, cell.height - 1, **looks))
        x, y = cell.middle
        color = PAPER if cell.share > 0.5 else INK
        pen.write(x, y + size * 0.35, cell.figure, size, color, **_CENTERED)


def _draw_legend(axes: Axes, pen: Pen, layout: HeatmapLayout) -> None:
    left, top = layout.left + SMALL * 1.2, layout.legend_top
    steps = [[index / 255 for index in range(256)]]
    _shade(axes, steps, (left, left + LEGEND_WIDTH, top + 9, top))
    pen.write(layout.left, top + 8.5, "0", SMALL, MUTED)
    pen.write(left + LEGEND_WIDTH + 6, top + 8.5, "1  attention weight", SMALL, MUTED)
