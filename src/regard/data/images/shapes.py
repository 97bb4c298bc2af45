"""Shapes: what the grids of a backbone will be like, before there are any weights."""

from __future__ import annotations

import torch

from regard.data.images.configuration import BackboneConfiguration


def expected_shape(configuration: BackboneConfiguration) -> tuple[int, int, int] | None:
    """Rows, columns and the size of vectors; None where only the network itself can tell."""
    if configuration.name == "patches":
        from regard.data.images.patches import make_patches

        patches = make_patches(configuration)
        return patches.rows, patches.columns, patches.size
    if configuration.name.startswith("timm/"):
        return None
    from regard.data.images.efficientnet import SCALES, EfficientNetLite

    scale = SCALES[configuration.name]
    side = configuration.image_size or scale.image_size
    with torch.device("meta"):
        maps = EfficientNetLite(scale, configuration.layer)(torch.zeros(1, 3, side, side))
    _, size, rows, columns = maps.shape
    return rows, columns, size
