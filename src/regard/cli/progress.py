"""Progress through a known number of things, on standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counting(what: str, total: int, *, printing: bool) -> Iterator[Callable[[int], None]]:
    """A function to call with how many of `total` are done.

    In a terminal a bar is drawn, unless results are printed to it too (`printing`); elsewhere a
    line is written every ten seconds. What takes less is not told of.
    """
    from regard.training.progress import Lines, Live, clock, make_reporter

    start = time.monotonic()

    def told(done: int) -> str:
        seconds = max(1e-9, time.monotonic() - start)
        left = clock((total - done) * seconds / max(1, done))
        return f"{what}: {done:,} of {total:,}, {done / seconds:,.0f} a second, {left} left"

    def tell(done: int) -> None:
        if isinstance(reporter, Live):
            reporter.progress.update(
                reporter.task, total=total, completed=done, description=told(done)
            )
        elif isinstance(reporter, Lines):
            reporter.now_and_then(told(done))

    shared = printing and sys.stdout is not None and sys.stdout.isatty()
    reporter = make_reporter(not shared)
    try:
        yield tell
    finally:
        reporter.close()
