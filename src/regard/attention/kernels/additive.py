"""Additive scores without the big tensor.

``tanh(a + b) = 1 - 2 / (1 + exp(2a) exp(2b))``: exponentials are taken per query and per key only,
and what remains for every (query, key, size) is one multiply-add and one reciprocal. Both passes
work on a tile of queries and positions at a time, in one buffer; the backward pass recomputes the
tile, so nothing of shape ``[queries, positions, size]`` is ever kept. Where an exponential could
overflow, or in half precision, ``2 sigmoid(2 (a + b)) - 1`` is used in its place; the two agree to
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.kernels.tiles import Tiling, tile

LARGEST = 40.0  # exp(2 * 40) is still far from float32's 3.4e38; the product of two is guarded too.
TILE_ELEMENTS = 1 << 19  # a core's: 2 MiB of float32, in the cache; smaller ones cost more in calls
ACCELERATOR_TILES = 64  # so many in one: enough to keep it busy


def exponentials(key: Float[Tensor, "batch heads positions size"]) -> tuple[Tensor, ...]:
    """``exp(2 key)`` of a memory, or nothing where the factored form may not be used."""
    if torch.compiler.is_compiling() or key.dtype not in (torch.float32, torch.float64):
        return ()
    plain = key.detach()
    return ((2.0 * plain).exp_(),) if is_small(plain) else ()


def is_small(tensor: Float[Tensor, ...]) -> bool:
    """Whether every number is one whose exponential the factored form may use; NaN is not."""
    if tensor.numel() == 0:
        return True
    lowest, highest = torch.aminmax(tensor)
    return lowest.item() >= -LARGEST and highest.item() <= LARGEST


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
    exponential_key = derived[0] if derived and is_small(query.detach()) else None
    device = query.device.type
    if query.dtype == key.dtype == v_a.dtype and not torch.is_autocast_enabled(device):
        return _scores(query, key, v_a, exponential_key)
    # Autocast makes projections in half precision under a parameter in full: all in full then.
    full = torch.promote_types(torch.promote_types(query.dtype, key.dtype), v_a.dtype)
    if exponential_key is not None and exponential_key.dtype != full:
        exponential_key = None
    with torch.autocast(device, enabled=False):
        return _scores(query.to(full), key.to(full), v_a.to(full), exponential_key)


def _scores(query: Tensor, key: Tensor, v_a: Tensor, exponential_key: Tensor | None) -> Tensor:
    if torch.is_grad_enabled():
        result: Tensor = _AdditiveScores.apply(query, key, v_a, exponential_key)
        return result
    return _forward(query, key, v_a, exponential_key)


def _forward(query: Tensor, key: Tensor, v_a: Tensor, exponential_key: Tensor | None) -> Tensor:
    if query.numel() * key.shape[2] <= _tile_elements(query.device):
        return _at_once(query, key, v_a, exponential_key)
    work = _Work.of(query, key, exponential_key)
    vectors = v_a.to(work.left.dtype)
    scores = work.left.new_empty(*query.shape[:3], key.shape[2])
    for head, v in enumerate(vectors.unbind()):
        total = v.sum()
        for r, of_tile in zip(
            work.reciprocals(head),
            work.cut(scores[:, head].transpose(0, 1), rows=1, queries=0, positions=2),
            strict=True,
        ):
            torch.sub(total, _sum_size(v, r), alpha=2.0, out=of_tile)
    return scores.to(query.dtype)


def _at_once(query: Tensor, key: Tensor, v_a: Tensor, exponential_key: Tensor | None) -> Tensor:
    """What is no more than a tile, with fewer calls."""
    precise = torch.promote_types(query.dtype, torch.float32)
    vectors = v_a.to(precise)
    if exponential_key is None:
        left, right = query.to(precise), key.to(precise)
    else:
        left, right = (2.0 * query).exp_(), exponential_key
    r = reciprocal(left.unsqueeze(3), right.unsqueeze(2), factored=exponential_key is not None)
    if len(vectors) == 1:
        total, sums = vectors.sum(), torch.mv(r.flatten(0, 3), vectors[0]).view(r.shape[:4])
    else:
        total, sums = vectors.sum(-1)[:, None, None], (r * vectors[:, None, None]).sum(-1)
    return torch.sub(total, sums, alpha=2.0).to(query.dtype)


class _AdditiveScores(torch.autograd.Function):
    """Forward and backward of the scores. Half precision is computed in float32."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, v_a: Tensor, exponential_key: Any) -> Tensor:
        ctx.save_for_backward(query, key, v_a, exponential_key)
        return _forward(query, key, v_a, exponential_key)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        query, key, v_a, exponential_key = ctx.saved_tensors
        (gradient,) = gradients
        if torch.is_grad_enabled():  # double backward: differentiate the plain expression
            return (*_plain_gradients(query, key, v_a, gradient), None)
        work = _Work.of(query, key, exponential_key)
        to_query = torch.zeros_like(work.left)
        to_key = torch.zeros_like(key, dtype=work.left.dtype)
        turned = gradient.to(work.left.dtype).permute(1, 2, 0, 3).contiguous()
        to_vector = turned.sum((1, 2, 3))[:, None].repeat(1, v_a.shape[1])
        for head in range(query.shape[1]):
            for r, inner, of_queries, of_keys in zip(
                work.reciprocals(head),
                work.cut(turned[head], rows=1, queries=0, positions=2),
                work.cut(to_query[head], rows=1, queries=0),
                work.cut(to_key[:, head], rows=0, positions=1),
                strict=True,
            ):
                to_vector[head].sub_(_sum_positions(inner, r).sum((0, 1)), alpha=2.0)
                slope = r.addcmul_(r, r, value=-1.0)  # r (1 - r), a quarter of 1 - tanh^2
                of_queries.add_(_sum_positions(inner, slope))
                if len(inner) == 1:
                    of_keys.addcmul_(slope[0], inner[0].unsqueeze(-1))
                else:
                    of_keys.add_(_sum_queries(inner, slope))
        four = 4.0 * v_a[None, :, None, :]
        return (
            to_query.permute(2, 0, 1, 3).mul(four).to(query.dtype),
            to_key.mul_(four).to(key.dtype),
            to_vector.to(v_a.dtype),
            None,
        )


def reciprocal(left: Tensor, right: Tensor, *, factored: bool, out: Tensor | None = None) -> Tensor:
    """``1 / (1 + exp(2 (a + b)))``; ``tanh(a + b)`` is 1 minus twice this.

    ``left`` and ``right`` broadcast; they are a and b, or ``exp(2a)`` and ``exp(2b)`` (factored).
    """
    if factored:
        return torch.addcmul(left.new_ones(()), left, right, out=out).reciprocal_()
    return torch.add(left, right, out=out).mul_(-2.0).sigmoid_()


def _tile_elements(device: torch.device) -> int:
    """How many numbers to work on at a time."""
    cores = min(torch.get_num_threads(), 8)
    return TILE_ELEMENTS * (cores if device.type == "cpu" else ACCELERATOR_TILES)


class _Work(NamedTuple):
    """Queries and keys as the loops over tiles want them, and the tiles.

    ``left`` has queries before rows of the batch, so that both sums are products of matrices.
    """

    left: Float[Tensor, "heads queries batch size"]
    right: Float[Tensor, "batch heads positions size"]
    factored: bool
    tiling: Tiling

    @classmethod
    def of(cls, query: Tensor, key: Tensor, exponential_key: Tensor | None) -> _Work:
        precise = torch.promote_types(query.dtype, torch.float32)
        turned, right = query.permute(1, 2, 0, 3), key.to(precise)
        left = torch.empty(turned.shape, dtype=precise, device=query.device)
        if exponential_key is None:
            left.copy_(turned)
        else:
            torch.mul(turned, 2.0, out=left).exp_()
            right = exponential_key
        batch, _, queries, size = query.shape
        room = max(1, _tile_elements(query.device) // max(1, size))
        tiling = tile(batch, queries, key.shape[2], room)
        return cls(left, right, exponential_key is not None, tiling)

    def cut(self, tensor: Tensor, **dimensions: int) -> list[Tensor]:
        """What belongs to each tile of a tensor of one head."""
        counts = (self.left.shape[2], self.left.shape[1], self.right.shape[2])
        return self.tiling.cut(tensor, counts, **dimensions)

    def reciprocals(self, head: int) -> Iterator[Float[Tensor, "queries rows positions size"]]:
        """``reciprocal`` of every tile of a head, all in one buffer: each holds until the next."""
        left = self.cut(self.left[head].unsqueeze(2), queries=0, rows=1)
        right = self.cut(self.right[:, head], rows=0, positions=1)
        out = buffer = left[0].new_empty(0)
        for one, other in zip(left, right, strict=True):
            shape = (*one.shape[:2], *other.shape[1:])
            if out.shape != shape:
                if not len(buffer):  # the first tile is the biggest
                    buffer = left[0].new_empty(math.prod(shape))
                out = buffer[: math.prod(shape)].view(shape)
            yield reciprocal(one, other, factored=self.factored, out=out)


def _sum_size(
    v: Float[Tensor, " size"], tensor: Float[Tensor, "queries rows positions size"]
) -> Float[Tensor, "queries rows positions"]:
    """One product a query: PyTorch runs a product of a matrix and a vector on a single core."""
    parts = tensor.flatten(0, 1).transpose(1, 2)
    return torch.bmm(v.expand(len(parts), 1, -1), parts).view(tensor.shape[:3])


def _sum_positions(
    weights: Float[Tensor, "queries rows positions"],
    tensor: Float[Tensor, "queries rows positions size"],
) -> Float[Tensor, "queries rows size"]:
    if weights.shape[2] == 1:
        return tensor[:, :, 0] * weights
    return torch.matmul(weights[:, :, None, :], tensor).squeeze(2)


def _sum_queries(
    weights: Float[Tensor, "queries rows positions"],
    tensor: Float[Tensor, "queries rows positions size"],
) -> Float[Tensor, "rows positions size"]:
    turned = weights.permute(1, 2, 0).contiguous()
    return torch.matmul(turned[:, :, None, :], tensor.permute(1, 2, 0, 3)).squeeze(2)


def _plain_gradients(
    query: Tensor, key: Tensor, v_a: Tensor, gradient: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    hidden = torch.tanh(query[:, :, :, None, :] + key[:, :, None, :, :])
    scaled = gradient.unsqueeze(-1) * (1.0 - hidden * hidden) * v_a[None, :, None, None, :]
    to_vector = (gradient.unsqueeze(-1) * hidden).sum((0, 2, 3))
    return scaled.sum(3), scaled.sum(2), to_vector
