"""Backbone: what makes a grid of features from an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from jaxtyping import Float
from torch import Tensor

from regard.data.images.configuration import BackboneConfiguration

if TYPE_CHECKING:
    from PIL.Image import Image


class Backbone(Protocol):
    """Frozen: it never trains, and always gives the same features of the same image.

    name: what it is, for people.
    fingerprint: name, weights and preprocessing in one line; features are the same where it is.
    input_size: height and width of the images it sees, in pixels.
    rows, columns, size: of the grids it makes.
    """

    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def input_size(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def size(self) -> int: ...

    def prepare(self, image: Image) -> Float[Tensor, "3 height width"]:
        """An RGB image resized, cropped and scaled as the network wants it."""

    def covered(self, width: int, height: int) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of what the grid covers of an image, in the image's pixels.

        It reaches outside the image where the image was padded.
        """

    def __call__(
        self, images: Float[Tensor, "batch 3 height width"]
    ) -> Float[Tensor, "batch positions size"]:
        """The features of prepared images; no gradients."""

    def weights(self) -> dict[str, Tensor]:
        """What a run directory keeps so that it needs nothing outside itself; may be empty."""


def load_backbone(
    configuration: BackboneConfiguration, weights: dict[str, Tensor] | None = None
) -> Backbone:
    """The backbone that a configuration names.

    weights: as `Backbone.weights` gave them; None = those that the configuration names.
    Raises UserError, with the command that installs it, when a package is missing, and when
    weights do not fit.
    """
    if configuration.name == "patches":
        from regard.data.images.patches import make_patches

        return make_patches(configuration)
    if configuration.name.startswith("timm/"):
        from regard.data.images.timm_models import make_timm

        return make_timm(configuration, weights)
    from regard.data.images.lite import make_lite

    return make_lite(configuration, weights)
