"""Pillow: the reader of pictures, which is an extra."""

from types import ModuleType

from regard.errors import UserError


def pillow() -> ModuleType:
    """The module `PIL.Image`. Raises UserError naming the package when it is not installed."""
    try:
        from PIL import Image
    except ImportError as error:
        raise UserError("pictures need Pillow, which is missing; pip install pillow") from error
    return Image
