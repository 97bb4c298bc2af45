"""The allocator: make glibc keep the memory that training frees and wants again at every update.

By default glibc asks the system for large tensors anew and gives them back; the system hands out
zeroed pages of 4 KB, one fault at a time. Here freed memory stays with the process, in a heap that
the system may back with pages of 2 MB.
"""

import ctypes
import sys
from typing import Any

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -2, -4, -8
_MADV_HUGEPAGE = 14
_HUGE_PAGE = 1 << 21
#: Of the heap, only addresses: memory is taken when it is first written to.
_HEAP = 1 << 30


def keep_freed_memory() -> bool:
    """Let freed memory stay with the process: True when set, False where there is no glibc.

    To be called before the work starts; for the whole process.
    """
    library = _glibc()
    if library is None:
        return False
    accepted = 0
    settings = (
        (_M_MMAP_MAX, 0),
        (_M_TRIM_THRESHOLD, -1),
        (_M_TOP_PAD, 1 << 26),
        (_M_ARENA_MAX, 1),  # all threads take from that heap
    )
    for name, value in settings:
        accepted += library.mallopt(name, value)
    _advise_huge_pages(library)
    return accepted == len(settings)


def _advise_huge_pages(library: Any) -> None:
    """Grow the heap, advise huge pages for the new part, and leave it to what comes next."""
    address = library.malloc(_HEAP)
    if not address:  # addresses are limited here: small pages will do
        return
    first = -(-address // _HUGE_PAGE) * _HUGE_PAGE
    size = (address + _HEAP - first) // _HUGE_PAGE * _HUGE_PAGE
    library.madvise(first, size, _MADV_HUGEPAGE)
    library.free(address)


def _glibc() -> Any | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 - other C libraries do not have it
    except (OSError, AttributeError):
        return None
    library.mallopt.argtypes, library.mallopt.restype = (ctypes.c_int, ctypes.c_int), ctypes.c_int
    library.malloc.argtypes, library.malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
    library.free.argtypes, library.free.restype = (ctypes.c_void_p,), None
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    library.madvise.restype = ctypes.c_int
    return library
