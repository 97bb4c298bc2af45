"""Pictures: what a model reads where sources are no texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.data.images.backbone import Backbone
from regard.data.images.grids import Grids
from regard.errors import UserError


@dataclass(frozen=True)
class Picture:
    """One of many grids of features. Its length is the number of its positions.

    view: which view of the image it is; 0 = the image as it is.
    """

    grids: Grids
    number: int
    view: int = 0

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


def see_images(images: Sequence[Path], backbone: Backbone) -> list[Picture | UserError]:
    """The picture of each image, its features held in memory; where it cannot be read, why."""
    from regard.data.images.extraction import extract_each

    return [
        each
        if isinstance(each, UserError)
        else Picture(HeldGrids(each[None], backbone.rows, backbone.columns), 0)
        for each in extract_each(images, backbone)
    ]


def read_pictures(
    pictures: Sequence[Picture],
) -> tuple[Float[Tensor, "batch positions size"], Bool[Tensor, "batch positions"]]:
    """The features of pictures, and a mask: every position is real."""
    grids = pictures[0].grids
    if all(picture.grids is grids for picture in pictures):
        features = _features(grids, pictures)
    else:
        features = torch.cat([_features(picture.grids, [picture]) for picture in pictures])
    return features, torch.ones(features.shape[:2], dtype=torch.bool)


def _features(grids: Grids, pictures: Sequence[Picture]) -> Float[Tensor, "batch positions size"]:
    return grids.batch(
        [picture.number for picture in pictures], [picture.view for picture in pictures]
    )
