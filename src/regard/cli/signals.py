"""Signals that wait: work in progress is asked to stop, and ends where nothing is lost."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TOLD = b"\nstopping: everything is saved first (a second signal stops at once)\n"


@contextmanager
def remembered_signals() -> Iterator[Callable[[], int | None]]:
    """A function that gives the number of the first SIGINT or SIGTERM inside the block, or None.

    The second one does what it did before the block. Threads other than the main one cannot
    receive signals: there the function gives None.
    """
    arrived: list[int] = []
    before: dict[signal.Signals, object] = {}

    def remember(number: int, frame: FrameType | None) -> None:
        arrived.append(number)
        restore()
        with suppress(OSError):
            os.write(2, _TOLD)  # no buffered stream: the signal may have come amid its writing

    def restore() -> None:
        for each, handler in before.items():
            signal.signal(each, handler)  # type: ignore[arg-type]

    try:
        with suppress(ValueError):
            for each in _SIGNALS:
                before[each] = signal.signal(each, remember)
        yield lambda: arrived[0] if arrived else None
    finally:
        restore()
