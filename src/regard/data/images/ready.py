"""Ready grids: features that somebody made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.data.images.grids import Grids


def ready_grids(
    features: Path, names: Sequence[str], *, rows: int | None = None, channels_first: bool = False
) -> Grids:
    """The grids of the images with these names, from files that hold them.

    features: a folder with `NAME.npy` for every image (with or without the image's own suffix), or
        a safetensors file whose keys are the names. Each holds `[rows, columns, size]`, or
        `[size, rows, columns]` with `channels_first`, or `[positions, size]`.
    rows: of the grid, where only positions are given; None = it is square.
    """
    raise NotImplementedError
