"""Extraction: from files of pictures to grids of features, the same way everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Float16
from torch import Tensor

from regard.data.images.backbone import Backbone
from regard.data.images.reading import decode_image, read_bytes
from regard.data.images.threads import in_threads
from regard.data.images.views import seen
from regard.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image


def extract_features(
    paths: Sequence[Path], backbone: Backbone
) -> Float[Tensor, "batch positions size"]:
    """The features of pictures: exactly what the cache would hold of them, as float32.

    Raises UserError, naming the file, for one that cannot be read.
    """
    whole: list[Tensor] = []
    for each in extract_each(paths, backbone):
        if isinstance(each, UserError):
            raise each
        whole.append(each)
    if not whole:
        return torch.zeros(0, backbone.rows * backbone.columns, backbone.size)
    return torch.stack(whole)


def extract_each(
    paths: Sequence[Path], backbone: Backbone
) -> list[Float[Tensor, "positions size"] | UserError]:
    """The same, picture by picture; in place of one that cannot be read, why."""

    def features(path: Path) -> Tensor | UserError:
        try:
            image = decode_for(backbone, read_bytes(path), str(path))
            return half_features(image, str(path), backbone)[0].float()
        except UserError as error:
            return error

    return list(in_threads(features, paths))


def decode_for(backbone: Backbone, data: bytes, name: str) -> Image:
    """The picture in a file's bytes, with twice the detail that the backbone sees.

    Raises UserError for whatever is not a whole picture.
    """
    return decode_image(data, name, at_least=2 * backbone.input_size)


def half_features(
    image: Image, name: str, backbone: Backbone, view: str | None = None
) -> Float16[Tensor, "1 positions size"]:
    """The features of one view of a picture, rounded to float16; `name` is for messages.

    The picture goes through the backbone alone, so that no other one changes its last digits.
    Raises UserError for features that float16 cannot hold.
    """
    prepared = backbone.prepare(image if view is None else seen(image, view))
    features = backbone(prepared.unsqueeze(0)).half()
    if not bool(torch.isfinite(features).all()):
        raise UserError(
            f"{name}: {backbone.name} makes features of it that are not numbers within 65,504; "
            "choose another layer or backbone"
        )
    return features
