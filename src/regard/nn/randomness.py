"""Where the random numbers of a training step come from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from jaxtyping import Int
from torch import Tensor

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


def whole_numbers(count: int, most: int) -> Int[Tensor, " count"]:
    """So many of 0 to ``most``, each as likely; on the processor."""
    return torch.randint(most + 1, (count,), generator=generator())
