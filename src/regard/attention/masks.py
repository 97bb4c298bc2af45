"""Boolean masks: True = may be attended. Additive scores are not masks; they are ``bias``."""

from __future__ import annotations

import torch
from jaxtyping import Bool
from torch import Tensor


def causal_mask(
    queries: int, positions: int, device: torch.device | None = None
) -> Bool[Tensor, "queries positions"]:
    """Query i may attend to position j when ``j <= i + positions - queries`` (bottom-right).

    The last query sees everything, so one decoding step over a cache is the last row of the whole.

    >>> causal_mask(2, 5).int().tolist()
    [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    """
    full = torch.ones(queries, positions, dtype=torch.bool, device=device)
    return full.tril(diagonal=positions - queries)


def check_mask(name: str, mask: Tensor | None, weights: tuple[int, ...] | None = None) -> None:
    """Raise TypeError unless ``mask`` is boolean: a 0/1 float mask would silently add 1.

    Args:
        weights: shape of the weights that the mask is to broadcast to, else ValueError.
    """
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(
            f"{name} must be boolean (True = may be attended), not {mask.dtype}; "
            "additive scores go into bias="
        )
    if mask is not None and weights is not None:
        _check_fits(name, mask, weights)


def check_bias(bias: Tensor | None, weights: tuple[int, ...]) -> None:
    """Raise TypeError unless ``bias`` is real, ValueError unless it broadcasts to the weights."""
    if bias is None:
        return
    if not bias.is_floating_point():
        raise TypeError(
            f"bias must be real numbers to add to the scores, not {bias.dtype}; "
            "booleans go into mask="
        )
    _check_fits("bias", bias, weights)


def _check_fits(name: str, tensor: Tensor, weights: tuple[int, ...]) -> None:
    fits = tensor.dim() <= len(weights)
    for size, full in zip(reversed(tensor.shape), reversed(weights), strict=False):
        fits = fits and (size == full or size == 1)
    if not fits:
        raise ValueError(
            f"{name} of {list(tensor.shape)} does not broadcast to the weights: "
            f"[batch, heads, queries, positions] = {list(weights)}"
        )


def and_masks(
    one: Bool[Tensor, ...] | None, other: Bool[Tensor, ...] | None
) -> Bool[Tensor, ...] | None:
    """Both at once; None = everything may be attended."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def with_causal(
    mask: Bool[Tensor, ...] | None, causal: bool, queries: int, positions: int, device: torch.device
) -> Bool[Tensor, ...] | None:
    """``mask`` ANDed with the causal one, if there is any."""
    if not causal or queries == 0:
        return mask
    return and_masks(mask, causal_mask(queries, positions, device))
