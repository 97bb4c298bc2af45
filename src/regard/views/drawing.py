"""Drawing with matplotlib in units of a layout: a blank sheet, and a pen that writes on it."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.views.fonts import choose_fonts
from regard.views.labels import clusters, is_right_to_left
from regard.views.palette import INK, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST = 40e6  # pixels


class Fonts(NamedTuple):
    """Families that together have a text's characters, and the characters that none has."""

    families: list[str]
    missing: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Fonts:
        """For these texts, and for what shortens them and stands for what is missing."""
        return cls(*choose_fonts(frozenset("".join(texts) + "‹›…")))

    def coded(self, text: str) -> str:
        """The text, with codes (`‹U+1F642›`) for characters that no font has outlines of."""
        return "".join(f"‹U+{ord(c):04X}›" if c in self.missing else c for c in text)


class Sheet:
    """A blank sheet of `width` by `height` units; each has `scale` pixels, less if it is large."""

    def __init__(self, width: float, height: float, scale: float) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.width, self.height = width, height
        self.scale = min(scale, (_LARGEST / (width * height)) ** 0.5)
        self.figure = Figure(dpi=100, facecolor=PAPER)
        self.figure.set_size_inches(width * self.scale / 100, height * self.scale / 100)
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set_axis_off()

    def png(self) -> bytes:
        """What was drawn, y growing downwards."""
        self.axes.set_xlim(0, self.width)
        self.axes.set_ylim(self.height, 0)
        buffer = BytesIO()
        self.figure.savefig(buffer, format="png", dpi=100, metadata={"Software": None})
        return buffer.getvalue()


class Pen:
    """Writes text in units of the layout; x, y: where its baseline starts unless told otherwise."""

    def __init__(self, axes: Axes, scale: float, families: list[str]) -> None:
        self.axes, self.scale, self.families = axes, scale, families
        self.orders_letters = _matplotlib_orders_letters()

    def write(
        self, x: float, y: float, text: str, size: float, color: str = INK, **look: Any
    ) -> None:
        if not self.orders_letters and is_right_to_left(text):
            text = "".join(reversed(list(clusters(text))))
        self.axes.text(
            x,
            y,
            text,
            fontsize=size * self.scale * 0.72,  # points at 100 dots an inch
            color=color,
            fontfamily=self.families,
            verticalalignment="baseline",
            parse_math=False,
            **look,
        )

    def write_heading(self, text: str, size: float) -> None:
        """In the upper left corner of the sheet."""
        weight = "bold" if len(self.families) == 1 else "normal"  # other fonts may have no bold
        self.write(16, 16 + size, text, size, weight=weight)


def _matplotlib_orders_letters() -> bool:
    """Whether this matplotlib orders and joins right-to-left letters itself (3.11 and later)."""
    import matplotlib

    major, minor = matplotlib.__version__.split(".")[:2]
    return (int(major), int(minor)) >= (3, 11)
