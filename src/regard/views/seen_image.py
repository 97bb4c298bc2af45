"""Seen image: a picture as views show it, and where on it the cells of a grid are."""

from __future__ import annotations

import io
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

#: Most pixels at the longer side of what is kept of a picture.
LONGEST_SIDE = 800
#: With no more colors than this a picture is a drawing, and PNG keeps it as it is.
_COLORS_OF_A_DRAWING = 2048

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class SeenImage:
    """A picture and the grid of cells that was laid over it.

    data: the picture as a PNG or JPEG file, not more than `LONGEST_SIDE` pixels long. kind: `png`
        or `jpeg`.
    width, height: of the picture itself, in pixels.
    covered: left, top, right, bottom of what the grid covers, in those pixels. It reaches outside
        where the picture was padded.
    rows, columns: of the grid; cells are numbered row by row from the top left.
    """

    data: bytes
    kind: str
    width: int
    height: int
    covered: Box
    rows: int
    columns: int

    @property
    def uri(self) -> str:
        """The picture as a `data:` address."""
        return f"data:image/{self.kind};base64,{b64encode(self.data).decode('ascii')}"

    def cell_names(self) -> tuple[str, ...]:
        """`row 1, column 1` and so on, counted from 1, in the order of the cells."""
        return tuple(
            f"row {row}, column {column}"
            for row in range(1, self.rows + 1)
            for column in range(1, self.columns + 1)
        )

    def cell_box(self, cell: int) -> Box | None:
        """Left, top, right, bottom of what a cell shows of the picture; None = nothing of it."""
        left, top, right, bottom = self.covered
        row, column = divmod(cell, self.columns)
        wide, high = (right - left) / self.columns, (bottom - top) / self.rows
        x0, x1 = (min(max(left + at * wide, 0.0), self.width) for at in (column, column + 1))
        y0, y1 = (min(max(top + at * high, 0.0), self.height) for at in (row, row + 1))
        return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def keep_image(image: Image, covered: Box, rows: int, columns: int) -> SeenImage:
    """What views need of an RGB picture, and the grid that was laid over it."""
    width, height = image.size
    small = image
    if max(width, height) > LONGEST_SIDE:
        scale = LONGEST_SIDE / max(width, height)
        small = image.resize((max(1, round(width * scale)), max(1, round(height * scale))))
    drawing = small.getcolors(_COLORS_OF_A_DRAWING) is not None
    kind, options = ("png", {"optimize": True}) if drawing else ("jpeg", {"quality": 85})
    buffer = io.BytesIO()
    small.save(buffer, format=kind.upper(), **options)
    return SeenImage(buffer.getvalue(), kind, width, height, covered, rows, columns)


def light(image: SeenImage, weights: Any, width: int, height: int) -> Any:
    """How bright a map makes each pixel, `[height, width]`, from 0 to 1.

    weights: of the cells, in their order, an array or a sequence.

    The middle of a cell is as bright as its weight over the largest one. Between middles weights
    are interpolated linearly, first along rows and then along columns; beyond the outermost ones
    they stay. What the grid does not cover is dark.
    """
    import numpy as np

    grid = np.asarray(weights, dtype=np.float64).reshape(image.rows, image.columns)
    largest = grid.max()
    left, top, right, bottom = image.covered
    down = _spread(image.rows, (top, bottom), image.height, height)
    across = _spread(image.columns, (left, right), image.width, width)
    return down @ (grid / largest if largest > 0 else grid) @ across.T


def _spread(cells: int, covered: tuple[float, float], length: int, pixels: int) -> Any:
    """`[pixels, cells]`: the share that each cell has in each of `pixels` over a length."""
    import numpy as np

    start, end = covered
    middles = (np.arange(pixels) + 0.5) * length / pixels
    places = ((middles - start) / (end - start) * cells - 0.5).clip(0, cells - 1)
    lower = np.floor(places).astype(int).clip(max=max(cells - 2, 0))
    upper = np.minimum(lower + 1, cells - 1)
    shares = np.zeros((pixels, cells))
    every = np.arange(pixels)
    shares[every, lower] = 1 - (places - lower)
    shares[every, upper] += places - lower
    shares[(middles < start) | (middles >= end)] = 0
    return shares
