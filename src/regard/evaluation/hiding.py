"""Hiding: a memory whose positions are there, and cannot be attended to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jaxtyping import Bool
from torch import Tensor


def hide(memory: Any, hidden: Bool[Tensor, "rows positions"]) -> Any:
    """The memory, as `Model.encode` or `Ensemble.encode` gave it, without what is ``hidden``.

    Attention has no weight there, and nothing is copied from there. What the encoder made of the
    source stays: neighbors know of a hidden position, and so does a decoder that starts from the
    encoder's last state.
    """
    if isinstance(memory, tuple):
        return tuple(hide(each, hidden) for each in memory)
    seen = ~hidden if memory.key_mask is None else memory.key_mask & ~hidden
    return replace(memory, key_mask=seen)
