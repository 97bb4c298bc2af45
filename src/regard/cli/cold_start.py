"""Cold start and quick end: what a verb that answers one line need not wait for."""

import gc
import os
import sys
from contextlib import suppress
from types import ModuleType
from typing import NoReturn

#: Shapes-only versions of torch's operators, for its compiler alone: a third of `import torch`.
COMPILER_ONLY = "torch._meta_registrations"


def import_torch() -> None:
    """Import torch for a verb that neither trains nor compiles, without its compiler's tables.

    Does nothing special when torch is there already. Where a future torch has no such module, the
    empty one put in its place is never looked at.
    """
    if "torch" in sys.modules:
        return
    placed = sys.modules.setdefault(COMPILER_ONLY, ModuleType(COMPILER_ONLY))
    gc.disable()  # thousands of modules' objects that live to the end: not worth looking through
    try:
        import torch  # noqa: F401
    finally:
        if sys.modules.get(COMPILER_ONLY) is placed:
            del sys.modules[COMPILER_ONLY]
        gc.freeze()
        gc.enable()


def leave(code: int) -> NoReturn:
    """End the process at once: everything is written, and taking torch apart takes half a second.

    Without torch, Python ends as usual.
    """
    if "torch" not in sys.modules:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.flush()
    os._exit(code)
