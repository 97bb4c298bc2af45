"""Files: written beside, synced and renamed, so that no reader ever sees half of one."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_native_id
from typing import BinaryIO

from regard.errors import UserError

_REASONS = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.EFBIG: "the file would be larger than the system allows",
    errno.EACCES: "permission denied; choose a place that you may write to",
    errno.EPERM: "permission denied; choose a place that you may write to",
    errno.EROFS: "the disk is read-only; choose a place that you may write to",
    errno.EISDIR: "it is a directory; name a file",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, line ends as they are, whole or not at all.

    Raises UserError, naming the path, when the disk is full or the place cannot be written to.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        symbol = text[error.start]
        raise UserError(
            f"{path}: cannot write U+{ord(symbol):04X}, which is not a Unicode character; "
            "give UTF-8 text"
        ) from error
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data`, whole or not at all. Raises UserError, naming the path, when it cannot."""
    with replacing(path) as stream:
        stream.write(data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A binary stream that becomes `path` when the block ends, and nothing when it raises.

    A device or a pipe (`/dev/stdout`) cannot be renamed onto and is written to directly.
    Raises UserError, naming the path, for every OSError of writing.
    """
    if _is_special(path):
        with writing(path), open(path, "wb") as stream:
            yield stream
        return
    with writing(path):
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        final = path.resolve()  # a link stays a link; what it points to is replaced
        beside = final.with_name(f".{final.name[:200]}.{get_native_id()}.partial")
        try:
            with open(beside, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(beside, final)
        except BaseException:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise
        _sync_directory(final.parent)


def append_line(path: Path, line: str) -> None:
    """Append `line` and a line end to `path` in one write, and flush it to the system.

    Raises UserError, naming the path, when it cannot be written.
    """
    with writing(path), open(path, "ab", buffering=0) as stream:
        data = (line + "\n").encode("utf-8")
        while data:
            data = data[stream.write(data) :]


def make_directory(path: Path) -> Path:
    """Create `path` and its parents where they are missing. Raises UserError when it cannot."""
    if os.path.exists(path) and not os.path.isdir(path):
        raise UserError(f"{path} is a file where a directory should be; choose another name")
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def require_file(path: Path, what: str = "a file") -> Path:
    """`path` itself when it is a file; else UserError saying that `what` should be there."""
    if os.path.isdir(path):
        raise UserError(f"{path} is a directory where {what} should be; name the file itself")
    if not os.path.exists(path):
        raise UserError(f"{path} does not exist: {what} should be there")
    return path


def require_directory(path: Path, what: str = "a directory") -> Path:
    """`path` itself when it is a directory; else UserError saying that `what` should be there."""
    if not os.path.exists(path):
        raise UserError(f"{path} does not exist: {what} should be there")
    if not os.path.isdir(path):
        raise UserError(f"{path} is a file where {what} should be; name the directory itself")
    return path


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn every OSError of the block into one UserError that names `path` and the remedy."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write {path}: {_reason(path, error)}") from error


def _reason(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        parent = path.parent
        if os.path.exists(parent) and not os.path.isdir(parent):
            return f"{parent} is a file, not a directory"
        return f"the directory {parent} does not exist; create it first"
    return _REASONS.get(error.errno or 0) or error.strerror or str(error)


def _is_special(path: Path) -> bool:
    """Whether `path` is there and neither a file nor a directory: a device, a pipe, a socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _sync_directory(path: Path) -> None:
    """Make a rename durable; systems that cannot open a directory do without."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
