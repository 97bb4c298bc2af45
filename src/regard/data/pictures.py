"""Pictures: what a model reads where sources are no texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.data.images.grids import Grids


@dataclass(frozen=True)
class Picture:
    """One of many grids of features. Its length is the number of its positions."""

    grids: Grids
    number: int

    def __len__(self) -> int:
        return self.grids.rows * self.grids.columns


@dataclass(frozen=True, eq=False)
class HeldGrids:
    """Grids in memory, one view of each: ``[images, rows * columns, size]``, row by row."""

    features: Float[Tensor, "images positions size"]
    rows: int
    columns: int

    @property
    def size(self) -> int:
        """Numbers in each vector."""
        return self.features.shape[2]

    @property
    def views(self) -> int:
        """One of each image."""
        return 1

    def __len__(self) -> int:
        return self.features.shape[0]

    def batch(
        self, indices: Sequence[int], views: Sequence[int] | None = None
    ) -> Float[Tensor, "batch positions size"]:
        """The features of some images."""
        return self.features[torch.as_tensor(indices, dtype=torch.long)]


def read_pictures(
    pictures: Sequence[Picture],
) -> tuple[Float[Tensor, "batch positions size"], Bool[Tensor, "batch positions"]]:
    """The features of pictures that are of the same grids, and a mask: every position is real."""
    features = pictures[0].grids.batch([picture.number for picture in pictures])
    return features, torch.ones(features.shape[:2], dtype=torch.bool)
