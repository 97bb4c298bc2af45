"""How images become features: the backbone's section of a configuration."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Framing = Literal["whole", "crop", "pad"]


class BackboneConfiguration(BaseModel):
    """What makes a grid of features from an image.

    name: `patches` (the pixels of square patches; needs no weights), `efficientnet-lite0`, `-lite1`
        or `-lite2`, or `timm/NAME` for any model of timm where that is installed.
    layer: `head` (what the classifier pools: 1280 numbers in 7x7 cells for Lite0), `last` (the last
        block, 320 in 7x7), `middle` (half the stride: 112 in 14x14). Patches do not read it.
    image_size: height and width in pixels that images are brought to; None = the backbone's own.
    framing: `whole` (the whole image, its aspect ratio changed), `crop` (the middle square),
        `pad` (the whole image, bars at its sides).
    grid: rows and columns of patches.
    weights: a file of weights, `.safetensors` or a state dict in `.pth`; None = the package's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "efficientnet-lite0"
    layer: Literal["head", "last", "middle"] = "head"
    image_size: Annotated[int, Field(ge=8, le=4096)] | None = None
    framing: Framing = "whole"
    grid: Annotated[int, Field(ge=1, le=256)] = 8
    weights: str | None = None
