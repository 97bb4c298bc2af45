"""Where a benchmark works that starts other programs: a directory that is gone when it ends."""

import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from measurement import MeasurementError
from peers.environments import InstallationError
from regard.errors import UserError


def measure_in(name: str, run: Callable[[Path], None]) -> int:
    """Run in a new directory: 0, or 2 after one line that says what was wrong."""
    work = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    keep = False
    try:
        run(work)
    except (UserError, InstallationError, MeasurementError) as error:
        keep = isinstance(error, MeasurementError)  # it names a log in there
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        if not keep:
            shutil.rmtree(work)
    return 0


def clean_up_when_terminated() -> None:
    """SIGTERM leaves as Ctrl-C does, or the tool that is training would go on alone."""
    signal.signal(signal.SIGTERM, _leave)


def _leave(number: int, _frame: object) -> None:
    sys.exit(128 + number)
