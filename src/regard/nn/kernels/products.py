"""Matrix products with factors of full or of half precision.

For each shape of a product in half precision oneDNN makes code of its own, some 600 KB, and keeps
it for good. Batches differ in their numbers of sentences and tokens, so that a training would fill
gigabytes. What varies is therefore cut into blocks and a rest, and sizes recur (`parts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from jaxtyping import Float
from torch import Tensor

#: So many rows are multiplied at once where there are as many, then a multiple of the second; the
#: rest is filled up to it with zeros, or, where there is nothing else, to a multiple of the third.
LARGE, BLOCK, STEP = 1024, 256, 32

_ROUNDED: ContextVar[bool] = ContextVar("rounded", default=False)


@contextmanager
def rounded_factors(wanted: bool = True) -> Iterator[None]:
    """Within, and in this thread alone, kernels round what they multiply to bfloat16.

    Sums within a product, and all that is no product, stay in full precision. It holds for what
    is computed within and for the gradients of that, whenever these are.
    """
    before = _ROUNDED.set(wanted)
    try:
        yield
    finally:
        _ROUNDED.reset(before)


def multiplies_bfloat16() -> bool:
    """Whether this processor has instructions for it; False where torch cannot tell."""
    told = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(getattr(torch.cpu, name, bool)() for name in told)


def is_rounded() -> bool:
    """Whether factors are, here and now."""
    return _ROUNDED.get()


def factor(tensor: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The tensor as it is multiplied: as it is, or rounded. The other factor takes its type."""
    return tensor.to(torch.bfloat16) if _ROUNDED.get() else tensor


def parts(count: int) -> Iterator[tuple[int, int, int]]:
    """How so many rows are multiplied: where a part begins, its rows, and those with the zeros."""
    start = 0
    while count - start >= LARGE:
        yield start, LARGE, LARGE
        start += LARGE
    whole = (count - start) // BLOCK * BLOCK
    if whole or not count:
        yield start, whole, whole
        start += whole
    if start < count:
        rest = count - start
        yield start, rest, BLOCK if start else -(-rest // STEP) * STEP


def even(count: int) -> int:
    """How many of so many rows can be multiplied without zeros; all of them in full precision."""
    size = BLOCK if count >= BLOCK else STEP
    return count // size * size if _ROUNDED.get() else count


def by_rows(
    left: Float[Tensor, "*batch rows inner"], right: Float[Tensor, "*batch inner columns"]
) -> Float[Tensor, "*batch rows columns"]:
    """``left right``, where it is the rows that vary from batch to batch.

    ``right`` is a factor, whose type the other one takes, and so has the result.
    """
    left = left.to(right.dtype)
    if right.dtype != torch.bfloat16:
        return torch.matmul(left, right)
    made = [
        torch.matmul(_filled(left, -2, start, rows, size), right).narrow(-2, 0, rows)
        for start, rows, size in parts(left.shape[-2])
    ]
    return made[0] if len(made) == 1 else torch.cat(made, dim=-2)


def by_columns(
    left: Float[Tensor, "rows inner"], right: Tensor, out: Float[Tensor, "rows columns"]
) -> Float[Tensor, "rows columns"]:
    """``left right`` as `by_rows`, where it is the columns; to ``out``, in full precision."""
    if right.dtype == out.dtype:
        return torch.mm(left, right, out=out)
    for start, columns, size in parts(right.shape[-1]):
        made = torch.mm(left, _filled(right, -1, start, columns, size))
        out.narrow(-1, start, columns).copy_(made.narrow(-1, 0, columns))
    return out


def by_inner(
    left: Float[Tensor, "*batch rows inner"], right: Float[Tensor, "*batch inner columns"]
) -> Float[Tensor, "*batch rows columns"]:
    """``left right`` as `by_rows`, where it is what is summed over; in full precision."""
    if right.dtype != torch.bfloat16:
        return torch.matmul(left, right)
    first, *rest = _summands(left, right)
    total = first.float()
    for summand in rest:
        total.add_(summand)
    return total


def add_by_inner(
    total: Float[Tensor, "rows columns"], left: Float[Tensor, "rows inner"], right: Tensor
) -> None:
    """Add what `by_inner` gives to a total in full precision, in its place."""
    if right.dtype == total.dtype:
        total.addmm_(left, right)
        return
    for summand in _summands(left, right):
        total.add_(summand)


def _summands(left: Tensor, right: Tensor) -> list[Tensor]:
    """Products of the parts of what is summed over."""
    return [
        torch.matmul(_filled(left, -1, start, inner, size), _filled(right, -2, start, inner, size))
        for start, inner, size in parts(right.shape[-2])
    ]


def _filled(tensor: Tensor, dim: int, start: int, length: int, size: int) -> Tensor:
    """Part of a factor along a dimension, and zeros after it where its size is greater.

    Its strides are those that its shape tells: with those of the whole it would be a product of
    its own for oneDNN. A transposed factor stays transposed.
    """
    if tensor.stride(-1) != 1 and tensor.stride(-2) == 1:
        turned = tensor.transpose(-2, -1)
        return _filled(turned, -3 - dim, start, length, size).transpose(-2, -1)
    part = tensor.narrow(dim, start, length)
    if length == size:
        return part.reshape(-1).view(part.shape)
    shape = list(part.shape)
    shape[dim] = size
    filled = part.new_zeros(shape)
    filled.narrow(dim, 0, length).copy_(part)
    return filled


def weight_gradient(
    read: Float[Tensor, "rows size"], gradient: Float[Tensor, "rows outputs"]
) -> Float[Tensor, "outputs size"]:
    """``gradient^T read``, by the product with the wider result, which is the faster one."""
    if gradient.shape[1] < read.shape[1]:
        return by_inner(gradient.t(), read)
    return by_inner(read.t(), gradient).t()


def multiply(
    left: Float[Tensor, "rows inner"], right: Tensor, out: Float[Tensor, "rows columns"]
) -> None:
    """Write ``left right`` to ``out``, which is in full precision.

    ``right`` is a factor, whose type the other one takes.
    """
    if right.dtype == out.dtype:
        torch.mm(left, right, out=out)
    else:
        out.copy_(by_rows(left, right))


def product(
    left: Float[Tensor, "*batch rows inner"], right: Tensor
) -> Float[Tensor, "*batch rows columns"]:
    """``left right`` in full precision; ``right`` is a factor, whose type the other one takes."""
    return by_rows(left, right).to(left.dtype)


def add_product(
    addend: Float[Tensor, "*batch rows columns"],
    left: Float[Tensor, "*batch rows inner"],
    right: Tensor,
    out: Float[Tensor, "*batch rows columns"] | None = None,
) -> Float[Tensor, "*batch rows columns"]:
    """``addend + left right``; ``right`` is a factor, whose type the other one takes."""
    if right.dtype == addend.dtype:
        return (torch.baddbmm if left.dim() == 3 else torch.addmm)(addend, left, right, out=out)
    return torch.add(addend, by_rows(left, right), out=out)


def gradient_product(
    left: Float[Tensor, "*batch rows inner"],
    right: Float[Tensor, "*batch rows columns"],
    kind: torch.dtype,
) -> Float[Tensor, "*batch inner columns"]:
    """``left^T right``, of factors of this type, in full precision."""
    return by_inner(left.to(kind).transpose(-2, -1), right.to(kind)).to(right.dtype)
