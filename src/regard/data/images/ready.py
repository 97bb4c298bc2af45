"""Ready grids: features that somebody made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.images.ready_files import FORMS, ReadyFile, open_ready
from regard.errors import UserError


@dataclass(frozen=True, eq=False)
class ReadyGrids:
    """The features of images, as `regard.data.images.grids.Grids`; made by `ready_grids`.

    files, names: where they lie, and what each is called there.
    channels_first: whether an array of three dimensions is `[size, rows, columns]`.
    """

    path: Path
    files: ReadyFile
    names: tuple[str, ...]
    rows: int
    columns: int
    size: int
    channels_first: bool = False

    @property
    def views(self) -> int:
        return 1

    def __len__(self) -> int:
        return len(self.names)

    def batch(
        self, indices: Sequence[int], views: Sequence[int] | None = None
    ) -> Float[Tensor, "batch positions size"]:
        if views is not None and any(views):
            raise ValueError("ready-made features have one view of each image, which is view 0")
        if not indices:
            return torch.zeros(0, self.rows * self.columns, self.size)
        return torch.stack([self._grid(self.names[index]) for index in indices])

    def _grid(self, name: str) -> Float[Tensor, "positions size"]:
        array = self.files.read(name).float()
        if not bool(torch.isfinite(array).all()):
            raise UserError(f"{self.path}: {name} holds what is not a number; make it again")
        if array.dim() == 2:
            return array
        return (array.permute(1, 2, 0) if self.channels_first else array).flatten(0, 1)


def ready_grids(
    features: Path, images: Sequence[str], *, rows: int | None = None, channels_first: bool = False
) -> ReadyGrids:
    """The grids of images from files that hold them.

    features: a folder with `NAME.npy` for every image; a `.safetensors` file with a tensor `NAME`
        for every image; or one `.npy` file `[images, ...]`, with the names in a `.txt` file beside
        it, one a line.
    images: their names, as the captions have them; NAME is that, with or without its suffix.
    rows: of the grid, where arrays are `[positions, size]`; None = it is square.
    channels_first: arrays of three dimensions are `[size, rows, columns]`, as convolutions give
        them, and not `[rows, columns, size]`.
    Raises UserError, naming what is wrong, for images without features, for features of different
    or unusable shapes, and for files that cannot be read.
    """
    files = open_ready(features)
    names = tuple(_name(files, features, image) for image in images)
    if not names:
        raise UserError(f"{features}: no image is asked for")
    shape = files.shape(names[0])
    grid = _grid_shape(shape, rows, channels_first, f"{features}: {names[0]}")
    for name in names:
        if files.shape(name) != shape:
            raise UserError(
                f"{features}: {name} has shape {files.shape(name)} and {names[0]} has {shape}; all "
                "must have the same"
            )
    return ReadyGrids(features, files, names, *grid, channels_first)


def _name(files: ReadyFile, features: Path, image: str) -> str:
    for name in files.names(image):
        if name in files:
            return name
    raise UserError(
        f"{features} has no features of the image {image} (it would be "
        f"{' or '.join(dict.fromkeys(files.names(image)))}); features are {FORMS}"
    )


def _grid_shape(
    shape: tuple[int, ...], rows: int | None, channels_first: bool, place: str
) -> tuple[int, int, int]:
    """Rows, columns and size of an array's shape. Raises UserError where it is no grid."""
    if len(shape) == 3 and min(shape) > 0:
        size, *grid = shape if channels_first else (shape[2], *shape[:2])
        if rows is not None and rows != grid[0]:
            raise UserError(f"{place} has {grid[0]} rows, and {rows} are asked for")
        return grid[0], grid[1], size
    if len(shape) == 2 and min(shape) > 0:
        tall = isqrt(shape[0]) if rows is None else rows
        wide = shape[0] // max(1, tall)
        if tall * wide != shape[0] or (rows is None and tall != wide):
            wanted = "a square grid" if rows is None else f"{rows} equal rows"
            raise UserError(
                f"{place} has {shape[0]} positions, which are not {wanted}; say how many rows "
                "there are"
            )
        return tall, wide, shape[1]
    raise UserError(
        f"{place} has shape {shape}; it should be [positions, size] or [rows, columns, size]"
    )
