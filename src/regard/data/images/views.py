"""Views: the same picture seen otherwise, so that a model in training meets more of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from regard.data.images.pillow import pillow
from regard.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

ORIGINAL = "original"
#: The share of each side that a corner keeps: 224 of 256 pixels (Krizhevsky et al. 2012).
CORNER = 0.875


def _corner(right: bool, bottom: bool) -> Callable[[Image], Image]:
    def cut(image: Image) -> Image:
        width, height = (max(1, round(CORNER * side)) for side in image.size)
        left = image.width - width if right else 0
        top = image.height - height if bottom else 0
        return image.crop((left, top, left + width, top + height))

    return cut


def _flip(image: Image) -> Image:
    return image.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


_VIEWS: dict[str, Callable[[Image], Image]] = {
    ORIGINAL: lambda image: image,
    "flipped": _flip,
    "top-left": _corner(right=False, bottom=False),
    "top-right": _corner(right=True, bottom=False),
    "bottom-left": _corner(right=False, bottom=True),
    "bottom-right": _corner(right=True, bottom=True),
}
VIEWS = tuple(_VIEWS)


def check_views(views: Sequence[str]) -> None:
    """Raises UserError unless the first view is `original` and all are known and different."""
    for view in views:
        if view not in _VIEWS:
            raise UserError(f"there is no view {view!r} of an image; there are {', '.join(VIEWS)}")
    if not views or views[0] != ORIGINAL or len(set(views)) < len(views):
        raise UserError(
            f"views are {', '.join(views) or 'none'}: the first must be {ORIGINAL!r}, and none may "
            "come twice"
        )


def seen(image: Image, view: str) -> Image:
    """One view of an RGB picture.

    `flipped` turns left and right around: with captions that speak of them it is wrong.
    """
    return _VIEWS[view](image)
