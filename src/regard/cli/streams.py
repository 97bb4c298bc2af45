"""Standard input, output and error, in UTF-8 whatever the locale says, lines ending at `\\n`."""

import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from regard.errors import UserError


class OutputClosedError(Exception):
    """Whoever read our output has gone: stop quietly."""


#: Where lines go.
Writer = Callable[[Sequence[str]], None]


def use_utf8() -> None:
    """Make the text side of standard output and error UTF-8 with `\\n`, for help and progress.

    Paths that are not UTF-8 come out as the bytes they are.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):  # closed, or replaced by a test
            stream.reconfigure(  # type: ignore[union-attr]
                encoding="utf-8", errors="surrogateescape", newline="\n"
            )


def encode(text: str) -> bytes:
    """UTF-8; bytes that arrived undecodable leave as they came, other surrogates as `\\udXXX`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def report(line: str) -> None:
    """Tell the person something on standard error; without one, nobody is told."""
    with suppress(AttributeError, ValueError, OSError):
        sys.stderr.flush()
        sys.stderr.buffer.write(encode(line + "\n"))
        sys.stderr.buffer.flush()


def write_line(line: str) -> None:
    """Write one line to standard output. Raises as `write_lines`."""
    write_lines([line])


def write_lines(lines: Sequence[str]) -> None:
    """Write lines to standard output and flush.

    Raises OutputClosedError when the reader has gone, UserError for a full disk and the like.
    """
    stream = _standard_output()
    with _output_errors():
        _write(stream, lines)
        stream.flush()


@contextmanager
def line_writer(path: Path | None) -> Iterator[Writer]:
    """A function that writes lines: to standard output, or to `path`, which appears at the end.

    Raises UserError, naming the place, when it cannot be written.
    """
    if path is None or str(path) == "-":
        yield write_lines
        return
    from regard.files import replacing

    with replacing(path) as stream:
        yield lambda lines: _write(stream, lines)


def text_argument(text: str, name: str) -> str:
    """A text given on the command line, which the locale may have decoded wrongly, as UTF-8.

    Raises UserError, naming the argument, when its bytes are not UTF-8.
    """
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeEncodeError:  # never was bytes of this locale: text already
        return text
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: not UTF-8 at byte {error.start}; give UTF-8 text") from error


def _write(stream: BinaryIO, lines: Sequence[str]) -> None:
    stream.write(encode("".join(line + "\n" for line in lines)))


def _standard_output() -> BinaryIO:
    if sys.stdout is None or sys.stdout.closed:
        raise UserError("standard output is closed; redirect it or name a file")
    return sys.stdout.buffer


@contextmanager
def _output_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosedError from error
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror
        raise UserError(f"cannot write standard output: {reason}") from error
