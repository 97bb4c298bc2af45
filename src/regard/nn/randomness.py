"""Where the random numbers of a training step come from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

_GENERATOR: ContextVar[torch.Generator | None] = ContextVar("generator", default=None)


@contextmanager
def drawing_from(generator: torch.Generator | None) -> Iterator[None]:
    """Within, and in this thread alone, what is drawn on a processor comes from `generator`.

    None = from torch's global random state.
    """
    before = _GENERATOR.set(generator)
    try:
        yield
    finally:
        _GENERATOR.reset(before)


def generator() -> torch.Generator | None:
    """The one that `drawing_from` gave; None = torch's global random state."""
    return _GENERATOR.get()


def whole_number(most: int) -> int:
    """One of 0 to ``most``, each as likely."""
    return int(torch.randint(most + 1, (), generator=generator()))
