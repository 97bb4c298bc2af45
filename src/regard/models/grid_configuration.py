"""The section of an encoder of pictures."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from regard.models.transformer_configuration import TransformerLayerConfiguration


class GridEncoderConfiguration(TransformerLayerConfiguration):
    """An encoder of pictures: the features of their grids (EQUATIONS A11, B8)."""

    kind: Literal["grid"] = "grid"
    normalized: bool = Field(False, description="layer norm over the numbers of each vector")
    size: int = Field(0, ge=0, description="what vectors are projected to; 0 = as they are")
    positions: Literal["none", "sinusoidal", "learned"] = Field(
        "none", description="vectors of row and column, added"
    )
    layers: int = Field(0, ge=0, description="Transformer layers over the grid")
