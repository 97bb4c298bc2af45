"""Cells: which parts of a picture's grid a region covers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Left, top, right and bottom in pixels; right and bottom are the first pixels outside.
Box = tuple[float, float, float, float]


def cells_inside(region: Any, rows: int, columns: int, size: tuple[float, float]) -> "NDArray[Any]":
    """Which cells of a grid are inside a region: booleans `[rows, columns]`, at least one true.

    A cell is inside when its middle is. Where a region is so small that it holds no middle, the
    cells that hold the most of it are inside.

    region: a `Box` in pixels, or a mask of the whole picture, `[height, width]` in any resolution,
        true where the thing is.
    size: width and height of the picture in pixels, for a box.
    Raises ValueError for a box that holds nothing of the picture, and for an empty mask.
    """
    import numpy as np

    region = np.asarray(region)
    if region.shape == (4,):
        left, top, right, bottom = region.tolist()
        down = _covered(top, bottom, size[1], rows)
        across = _covered(left, right, size[0], columns)
        inside, held = (np.outer(*axes) for axes in zip(down, across, strict=True))
    elif region.ndim == 2:
        inside, held = _masked(region.astype(bool), rows, columns)
    else:
        raise ValueError(f"a region is a box of four numbers or a mask, not {region.shape}")
    if not held.any():
        raise ValueError(f"the region holds nothing of the picture of {size[0]} by {size[1]}")
    return inside if inside.any() else held == held.max()


def middle_is_inside(region: Any, size: tuple[float, float]) -> bool:
    """Whether the middle of the picture is inside a region. Arguments as of `cells_inside`."""
    import numpy as np

    region = np.asarray(region)
    if region.ndim == 2:
        height, width = region.shape
        return bool(region[height // 2, width // 2])
    left, top, right, bottom = region.tolist()
    return bool(left <= size[0] / 2 < right and top <= size[1] / 2 < bottom)


def _covered(start: float, end: float, length: float, cells: int) -> tuple[Any, Any]:
    """Along one side: of each cell, whether its middle is from `start` to `end`, and how much."""
    import numpy as np

    edges = np.arange(cells + 1) * (length / cells)
    middles = (edges[:-1] + edges[1:]) / 2
    held = np.minimum(edges[1:], end) - np.maximum(edges[:-1], start)
    return (start <= middles) & (middles < end), held.clip(min=0)


def _masked(mask: "NDArray[Any]", rows: int, columns: int) -> tuple[Any, Any]:
    """Of each cell, whether the mask is true at its middle, and at how many of its pixels."""
    import numpy as np

    height, width = mask.shape
    down = (2 * np.arange(rows) + 1) * height // (2 * rows)
    across = (2 * np.arange(columns) + 1) * width // (2 * columns)
    held = np.zeros((rows, columns))
    ys, xs = np.nonzero(mask)
    np.add.at(held, ((2 * ys + 1) * rows // (2 * height), (2 * xs + 1) * columns // (2 * width)), 1)
    return mask[np.ix_(down, across)], held
