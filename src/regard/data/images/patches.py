"""Patches: the pixels themselves, a square of them for each cell. Needs no weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from regard.data.images.configuration import BackboneConfiguration, Framing
from regard.data.images.framing import Box, covered, frame, pixels
from regard.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

#: Pixels at the side of a patch, where the configuration gives no image size.
PATCH = 16
_MIDDLE = (127.5, 127.5, 127.5)


@dataclass(frozen=True)
class Patches:
    """A grid of square patches; the vector of each is its colors, -1 to 1.

    image_size: pixels at the side of the framed picture; grid: rows, and columns.
    """

    image_size: int
    grid: int
    framing: Framing

    @property
    def name(self) -> str:
        return "patches"

    @property
    def fingerprint(self) -> str:
        return f"patches {self.grid}x{self.grid}; {self.image_size} pixels, {self.framing}, -1 to 1"

    @property
    def rows(self) -> int:
        return self.grid

    @property
    def columns(self) -> int:
        return self.grid

    @property
    def size(self) -> int:
        return 3 * (self.image_size // self.grid) ** 2

    @property
    def input_size(self) -> int:
        return self.image_size

    def prepare(self, image: Image) -> Float[Tensor, "3 height width"]:
        return pixels(frame(image, self.image_size, self.framing), _MIDDLE, _MIDDLE)

    def covered(self, width: int, height: int) -> Box:
        return covered(width, height, self.framing)

    def __call__(
        self, images: Float[Tensor, "batch 3 height width"]
    ) -> Float[Tensor, "batch positions size"]:
        side = self.image_size // self.grid
        cells = images.unflatten(3, (self.grid, side)).unflatten(2, (self.grid, side))
        # batch, colors, rows, height of a patch, columns, width of a patch
        return cells.permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)

    def weights(self) -> dict[str, Tensor]:
        return {}


def make_patches(configuration: BackboneConfiguration) -> Patches:
    """Patches as configured. Raises UserError when they do not divide the picture."""
    grid = configuration.grid
    size = configuration.image_size or PATCH * grid
    if size % grid:
        raise UserError(
            f"a picture of {size} pixels cannot be cut into {grid} patches a side; make image_size "
            f"a multiple of grid, such as {max(1, size // grid) * grid}"
        )
    return Patches(size, grid, configuration.framing)
