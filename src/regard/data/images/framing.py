"""Framing: how a picture of any shape becomes the square that a network sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.images.configuration import Framing
from regard.data.images.pillow import pillow

if TYPE_CHECKING:
    from PIL.Image import Image

#: The share of the shorter side that `crop` keeps: 224 of 256 pixels, as networks are tested.
CROP = 0.875

Box = tuple[float, float, float, float]


def covered(width: int, height: int, framing: Framing) -> Box:
    """Left, top, right, bottom of what is seen of a picture, in its pixels.

    With `pad` it reaches outside the picture.
    """
    if framing == "whole":
        return 0.0, 0.0, float(width), float(height)
    side = max(width, height) if framing == "pad" else CROP * min(width, height)
    left, top = (width - side) / 2, (height - side) / 2
    return left, top, left + side, top + side


def frame(image: Image, size: int, framing: Framing) -> Image:
    """The `covered` part of an RGB picture, `size` pixels square; bars of `pad` are mid-grey."""
    bicubic = pillow().Resampling.BICUBIC
    left, top, right, bottom = covered(*image.size, framing)
    if framing != "pad":
        return image.resize((size, size), bicubic, box=(left, top, right, bottom), reducing_gap=3.0)
    scale = size / (right - left)
    width, height = (max(1, round(side * scale)) for side in image.size)
    square: Image = pillow().new("RGB", (size, size), (127, 127, 127))
    inner = image.resize((width, height), bicubic, reducing_gap=3.0)
    square.paste(inner, ((size - width) // 2, (size - height) // 2))
    return square


def pixels(
    image: Image, mean: tuple[float, float, float], deviation: tuple[float, float, float]
) -> Float[Tensor, "3 height width"]:
    """The colors of an RGB picture, 0 to 255, less the mean and divided by the deviation."""
    values = torch.from_numpy(np.array(image)).float()
    return ((values - torch.tensor(mean)) / torch.tensor(deviation)).permute(2, 0, 1)
