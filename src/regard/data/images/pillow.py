"""Pillow: the reader of pictures, which is an extra."""

from __future__ import annotations

import warnings
from functools import cache
from types import ModuleType

from regard.errors import UserError


@cache
def pillow() -> ModuleType:
    """The module `PIL.Image`. Raises UserError naming the package when it is not installed."""
    try:
        from PIL import Image
    except ImportError as error:
        raise UserError("pictures need Pillow, which is missing; pip install pillow") from error
    # Pictures with too many pixels are refused by name; Pillow's own warning would stand beside.
    warnings.simplefilter("ignore", Image.DecompressionBombWarning)
    return Image
