"""Input lines as they arrive, each with its number; a bad one is named and stops no other."""

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from regard.errors import UserError

Item = TypeVar("Item")


@dataclass(frozen=True)
class InputLine:
    """number: from 0. problem: why there is no text, for a line that is not UTF-8.

    features: of the text, where lines are rows that have them.
    """

    number: int
    text: str
    problem: str | None = None
    features: str | None = None

    @property
    def blank(self) -> bool:
        """Whether there is nothing to translate: no text, or only white space."""
        return not self.text.strip()


def input_lines(file: str) -> Iterator[InputLine]:
    """The lines of a file (gzip when its name ends in `.gz`), or of standard input for `-`.

    Split and decoded as `regard.data.lines` does. Raises UserError for a file that is missing,
    unreadable or damaged gzip.
    """
    from regard.data.lines import decode_line

    with _open(file) as stream:
        origin = "standard input" if file == "-" else file
        for number, raw in enumerate(stream):
            try:
                line = InputLine(number, decode_line(raw, origin, number + 1))
            except UserError as error:
                line = InputLine(number, "", str(error))
            yield line


def chunks(lines: Iterable[Item], first: int, most: int) -> Iterator[list[Item]]:
    """Lists of lines, `first` long and doubling up to `most`: early answers, then long batches."""
    size = first
    chunk: list[Item] = []
    for line in lines:
        chunk.append(line)
        if len(chunk) >= size:
            yield chunk
            size, chunk = min(2 * size, most), []
    if chunk:
        yield chunk


def is_typed(file: str) -> bool:
    """Whether a person types the input, and wants each line answered at once."""
    return file == "-" and sys.stdin is not None and sys.stdin.isatty()


@contextmanager
def _open(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise UserError("standard input is closed; name a file")
        yield sys.stdin.buffer
        return
    from regard.files import require_file

    path = require_file(Path(file), "a text file")
    try:
        compressed = path.name.lower().endswith(".gz")
        with gzip.open(path, "rb") if compressed else open(path, "rb") as stream:
            yield stream  # type: ignore[misc]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: damaged gzip data ({error}); make the file again") from error
