"""Lines: strict UTF-8 text, split on line feeds alone."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from regard.errors import UserError
from regard.files import require_file

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_lines(file: Path | BinaryIO, origin: str | None = None) -> list[str]:
    """All lines of a file (gzip when its name ends in `.gz`) or of a binary stream.

    A line ends at a line feed and nowhere else (U+2028, U+0085 and the like stay inside it); one
    carriage return before it is removed, and so is a byte order mark at the start. The last line
    need not be ended. `origin` names a stream in messages.
    Raises UserError, with file and line, for anything that is not UTF-8, and for a file that is
    missing, unreadable, a directory or damaged gzip.
    """
    if not isinstance(file, Path):
        return list(iterate_lines(file, origin or "standard input"))
    require_file(file, "a text file")
    name = origin or str(file)
    with _reading(name), _open(file) as stream:
        return list(iterate_lines(stream, name))


def iterate_lines(stream: BinaryIO, origin: str) -> Iterator[str]:
    """The lines of a binary stream as they arrive; as `read_lines`, for input of any length."""
    for number, raw in enumerate(stream, start=1):
        yield decode_line(raw, origin, number)


def decode_line(raw: bytes, origin: str, number: int) -> str:
    """One line of bytes as text, without its line end. `number` counts from 1.

    Raises UserError naming `origin`, the line and the byte when it is not UTF-8.
    """
    raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    if number == 1:
        raw = raw.removeprefix(_BYTE_ORDER_MARK)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{origin}, line {number}: not UTF-8 at byte {error.start + 1} of the line "
            f"(0x{raw[error.start]:02x}); {_remedy(raw, number)}"
        ) from error


def _remedy(raw: bytes, number: int) -> str:
    if number == 1 and raw.startswith(b"\x1f\x8b"):
        return "this is gzip data: its name should end in .gz"
    if number == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "this looks like UTF-16: save it as UTF-8"
    return "save it as UTF-8"


def _open(path: Path) -> BinaryIO:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]
    return path.open("rb")


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn what a damaged or unreadable file raises into one UserError that names it."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{name}: damaged gzip data ({error}); make the file again") from error
    except OSError as error:
        raise UserError(
            f"cannot read {name}: {error.strerror or error}; it should be a readable file"
        ) from error
