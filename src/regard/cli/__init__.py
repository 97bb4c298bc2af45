"""The command line: a file per verb, each of which parses, calls and prints.

Nothing heavy is imported here: verbs are loaded when they are called, and load the rest of regard
themselves, so that `regard --help` answers at once.
"""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from regard.cli.cold_start import leave
from regard.cli.streams import OutputClosedError, use_utf8
from regard.cli.streams import report as tell  # a verb's module has the other name
from regard.errors import UserError

#: What a shell makes of a process that a signal ended: 128 and the signal's number.
INTERRUPTED, TERMINATED = 130, 143


class Terminated(BaseException):
    """SIGTERM arrived: everything half done is undone on the way out."""


def main() -> None:
    """Run this process's command line and exit: 0 done, 2 bad input, 130 and 143 after signals."""
    use_utf8()
    with suppress(ValueError):  # only a program's main thread may set signal handlers
        signal.signal(signal.SIGTERM, _terminate)
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except (AttributeError, ValueError):  # there is no standard output
        pass
    except OSError:
        _discard_output()
    leave(code)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; bad input is told in one line, no traceback."""
    from regard.cli.verbs import application

    try:
        result = application().main(args=arguments, prog_name="regard", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except UserError as error:
        tell(f"regard: error: {error}")
        return 2
    except OutputClosedError:  # the reader (`head`, a pager) has seen enough
        _discard_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Terminated:
        return TERMINATED
    except Exception as error:
        message = _usage_message(error)
        if message is None:
            raise
        tell(f"regard: error: {message}")
        return 2


def _usage_message(error: Exception) -> str | None:
    """One line for what was typed wrong or a file the system refuses; None for a fault of ours."""
    if hasattr(error, "format_message"):  # typer's own complaints about options and arguments
        line = " ".join(str(error.format_message()).split()).rstrip(".")
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "regard"
        return f"{line[:1].lower()}{line[1:]}; see `{command} --help`"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    return None


def _terminate(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough; leave the way out undisturbed
    raise Terminated


def _discard_output() -> None:
    """Send what Python still wants to flush at exit nowhere: nobody reads it any more."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
