"""Hiding: a memory whose positions are there, and cannot be attended to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

from regard.errors import UserError


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


def hidden_positions(
    hidden: Sequence[int], mask: Bool[Tensor, "1 positions"]
) -> Bool[Tensor, "1 positions"]:
    """As a mask. Raises UserError for positions that are not there."""
    wrong = [position for position in hidden if not 0 <= position < mask.shape[1]]
    if wrong:
        raise UserError(f"there is no position {wrong[0]} in a source of {mask.shape[1]}")
    found = torch.zeros_like(mask)
    found[0, list(hidden)] = True
    return found
