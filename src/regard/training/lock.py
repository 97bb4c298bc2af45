"""The lock: one training process at a time in a run directory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.errors import UserError
from regard.files import writing


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the directory; the system lets go of it when the process ends, however it ends.

    Raises UserError when another process holds it. Systems without flock do without.
    """
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows
        yield
        return
    with writing(directory):
        descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(
                f"{directory} is in use: another process is training there; wait for it or end it"
            ) from error
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(descriptor)
