"""How images become features: the backbone's section of a configuration."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Framing = Literal["whole", "crop", "pad"]
Layer = Literal["head", "last", "middle"]

LITES = ("efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2")


class BackboneConfiguration(BaseModel):
    """What makes a grid of features from an image.

    name: `patches` (the pixels of square patches; needs no weights), `efficientnet-lite0`,
        `efficientnet-lite1`, `efficientnet-lite2`, or `timm/NAME` for a model of timm where that
        is installed.
    layer: `head` (what the classifier pools: 1,280 numbers in each of 7 x 7 cells for Lite0),
        `last` (the last block: 320 in 7 x 7) or `middle` (half the stride: 112 in 14 x 14).
        Patches do not read it.
    image_size: height and width in pixels that images are brought to; None = the backbone's own.
    framing: `whole` (the whole image, its sides' ratio changed), `crop` (the middle square, an
        eighth of it off) or `pad` (the whole image, with bars).
    grid: rows, and columns, of patches. Others do not read it.
    weights: a file of weights, `.safetensors` or a state dict of torch's; None = the published
        ones. Patches have none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "efficientnet-lite0"
    layer: Layer = "head"
    image_size: Annotated[int, Field(ge=8, le=4096)] | None = None
    framing: Framing = "whole"
    grid: Annotated[int, Field(ge=1, le=256)] = 8
    weights: str | None = None

    @model_validator(mode="after")
    def _only_what_the_backbone_reads(self) -> "BackboneConfiguration":
        timm = self.name.startswith("timm/") and len(self.name) > len("timm/")
        if self.name != "patches" and self.name not in LITES and not timm:
            raise ValueError(
                f"there is no backbone {self.name!r}; choose patches, {', '.join(LITES)} or "
                "timm/NAME"
            )
        if self.name == "patches" and self.weights is not None:
            raise ValueError("patches have no weights; set weights to null")
        return self
