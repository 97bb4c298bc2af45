"""Matrix products with factors of full or of half precision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from jaxtyping import Float
from torch import Tensor

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


def weight_gradient(
    read: Float[Tensor, "rows size"], gradient: Float[Tensor, "rows outputs"]
) -> Float[Tensor, "outputs size"]:
    """``gradient^T read``, by the product with the wider result, which is the faster one."""
    if gradient.shape[1] < read.shape[1]:
        return torch.mm(gradient.t(), read)
    return torch.mm(read.t(), gradient).t()


def multiply(
    left: Float[Tensor, "rows inner"], right: Tensor, out: Float[Tensor, "rows columns"]
) -> None:
    """Write ``left right`` to ``out``, which is in full precision.

    ``right`` is a factor, whose type the other one takes.
    """
    if right.dtype == out.dtype:
        torch.mm(left, right, out=out)
    else:
        out.copy_(torch.mm(left.to(right.dtype), right))


def product(
    left: Float[Tensor, "*batch rows inner"], right: Tensor
) -> Float[Tensor, "*batch rows columns"]:
    """``left right`` in full precision; ``right`` is a factor, whose type the other one takes."""
    return torch.matmul(left.to(right.dtype), right).to(left.dtype)


def add_product(
    addend: Float[Tensor, "*batch rows columns"],
    left: Float[Tensor, "*batch rows inner"],
    right: Tensor,
    out: Float[Tensor, "*batch rows columns"] | None = None,
) -> Float[Tensor, "*batch rows columns"]:
    """``addend + left right``; ``right`` is a factor, whose type the other one takes."""
    if right.dtype == addend.dtype:
        return (torch.baddbmm if left.dim() == 3 else torch.addmm)(addend, left, right, out=out)
    return torch.add(addend, torch.matmul(left.to(right.dtype), right), out=out)


def gradient_product(
    left: Float[Tensor, "*batch rows inner"],
    right: Float[Tensor, "*batch rows columns"],
    kind: torch.dtype,
) -> Float[Tensor, "*batch inner columns"]:
    """``left^T right``, of factors of this type, in full precision."""
    return torch.matmul(left.to(kind).transpose(-2, -1), right.to(kind)).to(right.dtype)
