"""Additive scores without the big tensor.

``tanh(a + b) = 1 - 2 / (1 + exp(2a) exp(2b))``: exponentials are taken per query and per key only,
and what remains for every (query, key, size) is one product and one reciprocal. The backward pass
recomputes it, a chunk of queries at a time, so nothing of shape ``[queries, positions, size]`` is
kept. Where an exponential could overflow, or in half precision, ``2 sigmoid(2 (a + b)) - 1`` is
used in its place; the two agree to rounding.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

LARGEST = 40.0  # exp(2 * 40) is still far from float32's 3.4e38; the product of two is guarded too.
CHUNK_ELEMENTS = 1 << 18  # 1 MiB of float32: a chunk stays in the cache of one core.


def exponentials(key: Float[Tensor, "batch heads positions size"]) -> tuple[Tensor, ...]:
    """``exp(2 key)`` of a memory, or nothing where the factored form may not be used."""
    if torch.compiler.is_compiling() or key.dtype not in (torch.float32, torch.float64):
        return ()
    plain = key.detach()
    if plain.numel() > 0 and not bool(plain.abs().amax() <= LARGEST):
        return ()
    return (torch.exp(2.0 * plain),)


def factored_additive_scores(
    query: Float[Tensor, "batch heads queries size"],
    key: Float[Tensor, "batch heads positions size"],
    v_a: Float[Tensor, "heads size"],
    derived: tuple[Tensor, ...] = (),
) -> Float[Tensor, "batch heads queries positions"]:
    """``v_a . tanh(query_i + key_j)``, equal to :func:`additive_scores` to rounding.

    ``derived`` is :func:`exponentials` of ``key`` when the caller kept it.
    """
    if torch.compiler.is_compiling():
        hidden = 2.0 * torch.sigmoid(2.0 * (query[:, :, :, None, :] + key[:, :, None, :, :])) - 1.0
        return (hidden * v_a[None, :, None, None, :]).sum(-1)
    if derived:
        plain = query.detach()
        safe = plain.numel() > 0 and bool(plain.abs().amax() <= LARGEST)
        if not safe:
            derived = ()
    exponential_key = derived[0] if derived else None
    if query.dtype == key.dtype == v_a.dtype:
        result: Tensor = _AdditiveScores.apply(query, key, v_a, exponential_key)
        return result
    # Autocast makes projections in half precision under a parameter in full: all in full then.
    full = torch.promote_types(torch.promote_types(query.dtype, key.dtype), v_a.dtype)
    with torch.autocast(query.device.type, enabled=False):
        same = (tensor.to(full) for tensor in (query, key, v_a))
        result = _AdditiveScores.apply(*same, exponential_key)
    return result


class _AdditiveScores(torch.autograd.Function):
    """Forward and backward of the scores, a chunk of queries at a time."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, v_a: Tensor, exponential_key: Any) -> Tensor:
        ctx.save_for_backward(query, key, v_a, exponential_key)
        factored = exponential_key is not None
        left = torch.exp(2.0 * query) if factored else query
        right = exponential_key if factored else key
        total = v_a.sum(-1)[None, :, None, None]
        scores = [
            total - 2.0 * _over_size(_pairs(part, right, factored), v_a)
            for part in left.split(_chunk(query, key), dim=2)
        ]
        return scores[0] if len(scores) == 1 else torch.cat(scores, dim=2)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        query, key, v_a, exponential_key = ctx.saved_tensors
        (gradient,) = gradients
        if torch.is_grad_enabled():  # double backward: differentiate the plain expression
            return (*_plain_gradients(query, key, v_a, gradient), None)
        factored = exponential_key is not None
        left = torch.exp(2.0 * query) if factored else query
        right = exponential_key if factored else key
        chunk = _chunk(query, key)
        to_query, to_vector = [], torch.zeros_like(v_a)
        to_key: Tensor | None = None
        for part, inner in zip(left.split(chunk, dim=2), gradient.split(chunk, dim=2), strict=True):
            r = _pairs(part, right, factored)
            row = inner.unsqueeze(-2)  # [batch, heads, queries, 1, positions]
            to_vector += inner.sum((0, 2, 3))[:, None] - 2.0 * (row @ r).sum((0, 2, 3))
            slope = r.addcmul_(r, r, value=-1.0)  # r (1 - r), a quarter of 1 - tanh^2
            to_query.append((row @ slope).squeeze(-2))
            part_key = slope.mul_(inner.unsqueeze(-1)).sum(2)
            to_key = part_key if to_key is None else to_key.add_(part_key)
        four = 4.0 * v_a[None, :, None, :]
        assert to_key is not None
        return torch.cat(to_query, dim=2).mul_(four), to_key.mul_(four), to_vector, None


def reciprocal(left: Tensor, right: Tensor, *, factored: bool) -> Tensor:
    """``1 / (1 + exp(2 (a + b)))``; ``tanh(a + b)`` is 1 minus twice this.

    ``left`` and ``right`` broadcast; they are a and b, or ``exp(2a)`` and ``exp(2b)`` (factored).
    """
    if factored:
        return (left * right).add_(1.0).reciprocal_()
    return (left + right).mul_(-2.0).sigmoid_()


def _pairs(left: Tensor, right: Tensor, factored: bool) -> Tensor:
    """``reciprocal`` of every query and key: ``[batch, heads, queries, positions, size]``."""
    return reciprocal(left[:, :, :, None, :], right[:, :, None, :, :], factored=factored)


def _over_size(pairs: Tensor, v_a: Tensor) -> Tensor:
    """``v_a . pairs``, head by head: ``[batch, heads, queries, positions]``."""
    if len(v_a) == 1:  # one matrix-vector product beats a batch of small ones by far
        return (pairs.flatten(0, -2) @ v_a[0]).view(pairs.shape[:-1])
    return (pairs * v_a[None, :, None, None, :]).sum(-1)


def _chunk(query: Tensor, key: Tensor) -> int:
    """How many queries to take at a time."""
    one = max(1, query.shape[0] * query.shape[1] * key.shape[2] * key.shape[3])
    return max(1, CHUNK_ELEMENTS // one)


def _plain_gradients(
    query: Tensor, key: Tensor, v_a: Tensor, gradient: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    hidden = torch.tanh(query[:, :, :, None, :] + key[:, :, None, :, :])
    scaled = gradient.unsqueeze(-1) * (1.0 - hidden * hidden) * v_a[None, :, None, None, :]
    to_vector = (gradient.unsqueeze(-1) * hidden).sum((0, 2, 3))
    return scaled.sum(3), scaled.sum(2), to_vector
