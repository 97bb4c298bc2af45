"""Reading: a picture of any kind becomes upright RGB pixels, or one clear error."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from regard.data.images.pillow import pillow
from regard.errors import UserError
from regard.files import require_file

if TYPE_CHECKING:
    from PIL.Image import Image, Transpose

#: The formats that are read; others, such as PostScript, would run programs to be drawn.
FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")
#: More pixels than this are refused before any of them is decoded.
MOST_PIXELS = 100_000_000
WHITE = (255, 255, 255)

_DEEP_MODES = ("I;16", "I;16L", "I;16B", "I;16N", "I")
_TAG_ORIENTATION = 0x0112


def read_image(path: Path, at_least: int | None = None) -> Image:
    """A picture as it should be seen: RGB, 8 bits, turned as its EXIF orientation says.

    Of several frames it is the first. Transparent parts show white. at_least: a JPEG may be
    decoded at half, a quarter or an eighth of its size as long as each side keeps this many
    pixels, which is much faster. Raises UserError, naming the file, for whatever is not a whole
    picture.
    """
    return decode_image(read_bytes(path), str(path), at_least)


def read_bytes(path: Path) -> bytes:
    """What is in a picture's file. Raises UserError when it is missing or cannot be read."""
    require_file(path, "a picture")
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror or error}; it should be a readable picture"
        ) from error


def decode_image(data: bytes, name: str, at_least: int | None = None) -> Image:
    """As `read_image`, from the bytes of a file; `name` is for messages."""
    if not data:
        raise UserError(f"{name} is empty; it should be a picture ({_known()})")
    images = pillow()
    try:
        image = images.open(io.BytesIO(data), formats=_formats())
        _check_size(image, name)
        if at_least is not None:
            image.draft(None, (at_least, at_least))
        image.load()
        return _upright(_as_rgb(image, name), image)
    except UserError:
        raise
    except images.UnidentifiedImageError as error:
        raise UserError(f"{name} is not a picture that can be read ({_known()})") from error
    except images.DecompressionBombError as error:
        raise UserError(_too_large(name, "far more than 100 million pixels")) from error
    except Exception as error:  # decoders of damaged files raise nearly everything
        reason = str(error) or type(error).__name__
        raise UserError(f"{name}: damaged picture ({reason}); make the file again") from error


def readable(
    paths: Iterable[Path], damaged: Callable[[Path, UserError], None] | None = None
) -> list[Path]:
    """The pictures that can be read whole, in their order.

    damaged: told of each that cannot; None = the first one raises its UserError.
    """
    whole = []
    for path in paths:
        try:
            read_image(path)
        except UserError as error:
            if damaged is None:
                raise
            damaged(path, error)
        else:
            whole.append(path)
    return whole


def _check_size(image: Image, name: str) -> None:
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise UserError(_too_large(name, f"{width:,} x {height:,} pixels"))


def _too_large(name: str, pixels: str) -> str:
    return f"{name} has {pixels}; scale it to at most 100 million"


def _as_rgb(image: Image, name: str) -> Image:
    """The colors on white, 8 bits each."""
    if image.mode in _DEEP_MODES:
        return _from_deep(image, name)
    if image.mode == "F":
        raise UserError(f"{name} has floating-point pixels; save it with 8 or 16 bits")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        colors = image.convert("RGBA")
        white: Image = pillow().new("RGB", colors.size, WHITE)
        white.paste(colors, mask=colors.getchannel("A"))
        return white
    return image.convert("RGB")


def _from_deep(image: Image, name: str) -> Image:
    """Grey with 16 bits, scaled to 8."""
    values = np.asarray(image)
    if values.min() < 0 or values.max() > 0xFFFF:
        raise UserError(f"{name} has pixels with more than 16 bits; save it with 8 or 16")
    grey = ((values.astype(np.uint32) * 255 + 0x7FFF) // 0xFFFF).astype(np.uint8)
    scaled: Image = pillow().fromarray(grey)
    return scaled.convert("RGB")


def _upright(colors: Image, opened: Image) -> Image:
    """Turned as the file says; a file whose EXIF data are damaged says nothing."""
    orientation = None
    with suppress(Exception):
        orientation = opened.getexif().get(_TAG_ORIENTATION)
    turn = _turns().get(orientation)
    return colors if turn is None else colors.transpose(turn)


@cache
def _turns() -> dict[int | None, Transpose]:
    """What brings a picture of each EXIF orientation upright."""
    turn = pillow().Transpose
    return {
        2: turn.FLIP_LEFT_RIGHT,
        3: turn.ROTATE_180,
        4: turn.FLIP_TOP_BOTTOM,
        5: turn.TRANSPOSE,
        6: turn.ROTATE_270,
        7: turn.TRANSVERSE,
        8: turn.ROTATE_90,
    }


@cache
def _formats() -> tuple[str, ...]:
    """Those of FORMATS that this Pillow was built with; from then on Pillow does not warn.

    What it warns of is refused by name here, as too many pixels are, or does not matter, as damaged
    EXIF data do not. Its threads cannot be kept from warning for a while only.
    """
    images = pillow()
    images.init()
    warnings.filterwarnings("ignore", module=r"PIL\.")
    return tuple(name for name in FORMATS if name in images.OPEN)


def _known() -> str:
    return "JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF"
