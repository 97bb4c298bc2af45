"""Network: any torch module as a backbone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.data.images.configuration import Framing
from regard.data.images.framing import Box, covered, frame, pixels
from regard.data.images.weights import digest

if TYPE_CHECKING:
    from PIL.Image import Image

Colors = tuple[float, float, float]


class NetworkBackbone:
    """A frozen network that makes maps or vectors of features from pictures.

    Args:
        name: what it is, for people and for the fingerprint: two different networks with equal
            weights need different names.
        module: from `[batch, 3, image_size, image_size]` to maps `[batch, size, rows, columns]`, or
            to vectors `[batch, positions, size]` of a square grid, row by row.
        image_size: pixels at the side of the framed picture.
        mean, deviation: of the colors, 0 to 255; the network sees `(colors - mean) / deviation`.
        framing: how a picture becomes a square.

    Raises:
        ValueError: the module gives neither maps nor vectors of a square grid.
    """

    def __init__(
        self,
        name: str,
        module: nn.Module,
        image_size: int,
        *,
        mean: Colors = (127.5, 127.5, 127.5),
        deviation: Colors = (127.5, 127.5, 127.5),
        framing: Framing = "whole",
    ) -> None:
        self.name = name
        self.input_size = image_size
        self._module = _channels_last(module.eval().requires_grad_(False))
        self._mean, self._deviation, self._framing = mean, deviation, framing
        grid = self._maps(torch.zeros(1, 3, image_size, image_size))
        self.rows, self.columns, self.size = grid.shape[1:]
        self.fingerprint = (
            f"{name}; weights {digest(module.state_dict())}; {image_size} pixels, {framing}, "
            f"({_shown(mean)} from, divided by {_shown(deviation)})"
        )

    def prepare(self, image: Image) -> Float[Tensor, "3 height width"]:
        return pixels(frame(image, self.input_size, self._framing), self._mean, self._deviation)

    def covered(self, width: int, height: int) -> Box:
        return covered(width, height, self._framing)

    def __call__(
        self, images: Float[Tensor, "batch 3 height width"]
    ) -> Float[Tensor, "batch positions size"]:
        return self._maps(images).flatten(1, 2)

    def weights(self) -> dict[str, Tensor]:
        return {name: tensor.contiguous() for name, tensor in self._module.state_dict().items()}

    @torch.no_grad()
    def _maps(
        self, images: Float[Tensor, "batch 3 height width"]
    ) -> Float[Tensor, "batch rows columns size"]:
        made = self._module(images.contiguous(memory_format=torch.channels_last)).float()
        if made.dim() == 4:
            return made.permute(0, 2, 3, 1).contiguous()
        side = round(made.shape[1] ** 0.5) if made.dim() == 3 else 0
        if side == 0 or side * side != made.shape[1]:
            raise ValueError(
                f"the network of {self.name} gives shape {tuple(made.shape)}; it must be [batch, "
                "size, rows, columns], or [batch, positions, size] of a square grid"
            )
        return made.unflatten(1, (side, side))


def _channels_last(module: nn.Module) -> nn.Module:
    """The module itself, its convolutions laid out as they are fastest on a CPU."""
    for parameter in module.parameters():
        if parameter.dim() == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
    return module


def _shown(colors: Colors) -> str:
    return " ".join(f"{color:g}" for color in colors)
