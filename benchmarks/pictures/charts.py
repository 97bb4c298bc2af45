"""Charts by matplotlib as SVG: text stays text, and the same numbers give the same file."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from regard.views.palette import ACCENT, EMPTY, INK, MUTED, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SECOND = "#c2571a"  # beside ACCENT, for whoever sees colors or not: it is lighter
THIRD = "#3f8f6b"
_LOOKS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "regard",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": None,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}


class Chart:
    """A figure with axes side by side, and the file that comes of it.

    Attributes:
        axes: from left to right, then down.
        svg: the whole file, once the ``with`` block that made the chart is left.
    """

    def __init__(self, figure: Figure, axes: list[Axes]) -> None:
        self.figure, self.axes, self.svg = figure, axes, ""


@contextmanager
def chart(
    columns: int = 1, rows: int = 1, *, width: float = 7.5, height: float = 3.0, **more: Any
) -> Iterator[Chart]:
    """Axes to draw into, in inches; afterwards ``svg`` holds the picture."""
    import matplotlib
    from cycler import cycler
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    looks = {**_LOOKS, "axes.prop_cycle": cycler(color=[ACCENT, SECOND, THIRD, MUTED])}
    with matplotlib.rc_context(looks):
        figure = Figure(figsize=(width, height), facecolor=PAPER, layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots(rows, columns, squeeze=False, **more)
        made = Chart(figure, list(axes.flatten()))
        yield made
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": "regard"})
        made.svg = _shortened(buffer.getvalue())


def _shortened(svg: str) -> str:
    """The same picture in fewer bytes: no comments, no long list of fonts, two decimals."""
    svg = re.sub(r"\s*<!--.*?-->", "", svg)
    svg = re.sub(r"font-family: [^;\"]+", "font-family: 'DejaVu Sans', sans-serif", svg)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]+", r"font: \1px 'DejaVu Sans', sans-serif", svg)
    svg = re.sub(r"(?<=\d)(\.\d\d)\d+(?=[\s\",)])", r"\1", svg)
    return re.sub(r" *\n *(?=[LMCQHVz\"])", " ", svg)


def shade(
    axes: Axes,
    rows: Any,
    *,
    lowest: float = 0.0,
    highest: float = 1.0,
    signed: bool = False,
    **more: Any,
) -> Any:
    """A matrix as colors: from empty to full, or with ``signed`` from one color to another."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [SECOND, EMPTY, ACCENT] if signed else [EMPTY, ACCENT]
    ramp = LinearSegmentedColormap.from_list("weight", ends, N=256)
    looks = {"aspect": "equal", "interpolation": "nearest", **more}
    numbers = rows.tolist() if hasattr(rows, "tolist") else rows
    return axes.imshow(numbers, cmap=ramp, vmin=lowest, vmax=highest, **looks)


def grid_lines(axes: Axes, columns: int, rows: int) -> None:
    """Lines of paper between the cells of a shaded matrix, and no frame."""
    axes.set_xticks([column + 0.5 for column in range(columns - 1)], minor=True)
    axes.set_yticks([row + 0.5 for row in range(rows - 1)], minor=True)
    axes.grid(which="minor", color=PAPER, linewidth=1)
    axes.tick_params(which="both", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def label_cells(axes: Axes, columns: Sequence[str], rows: Sequence[str]) -> None:
    """Words along the top and the left side of a shaded matrix."""
    axes.xaxis.tick_top()
    axes.set_xticks(
        range(len(columns)), columns, rotation=55, ha="left", rotation_mode="anchor", color=INK
    )
    axes.set_yticks(range(len(rows)), rows, color=INK)
    grid_lines(axes, len(columns), len(rows))
