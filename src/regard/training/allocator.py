"""The allocator: make glibc keep the memory that training frees and wants again at every update.

By default glibc asks the system for every large tensor anew and gives it back at once; the system
hands out zeroed pages one fault at a time. Training on a processor spends up to a third of its time
that way.
"""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_GIGABYTE = 1 << 30
_LARGEST_MMAP_THRESHOLD = 1 << 25  # glibc refuses more (half of HEAP_MAX_SIZE)


def keep_freed_memory() -> bool:
    """Let freed memory stay with the process: True when set, False where there is no glibc.

    To be called before the work starts; for the whole process.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 - not there in other C libraries
        mallopt = library.mallopt
    except (OSError, AttributeError):
        return False
    mallopt.argtypes, mallopt.restype = (ctypes.c_int, ctypes.c_int), ctypes.c_int
    settings = (
        (_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD),
        (_M_TRIM_THRESHOLD, 2 * _GIGABYTE - 1),
        (_M_TOP_PAD, 1 << 26),
    )
    accepted = 0
    for name, value in settings:
        accepted += mallopt(name, value)
    return accepted == len(settings)
