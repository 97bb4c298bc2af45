"""``x W + b`` of many rows, of rounded factors where they are to be."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.nn.kernels.products import (
    add_product,
    by_rows,
    gradient_product,
    is_rounded,
    product,
)


def affine(
    rows: Float[Tensor, "*batch rows size"],
    weight: Float[Tensor, "*batch size outputs"],
    bias: Float[Tensor, "*batch 1 outputs"],
) -> Float[Tensor, "*batch rows outputs"]:
    """``rows weight + bias``, or that of each of a batch."""
    if not is_rounded():
        return add_product(bias, rows, weight)
    outputs: Tensor = _Affine.apply(rows, weight, bias)
    return outputs


def linear(
    inputs: Float[Tensor, "*batch size"], layer: nn.Linear
) -> Float[Tensor, "*batch outputs"]:
    """``layer(inputs)``; the bias may be missing."""
    if not is_rounded():
        outputs: Tensor = layer(inputs)
        return outputs
    bias = None if layer.bias is None else layer.bias[None]
    outputs = _Affine.apply(inputs.reshape(-1, inputs.shape[-1]), layer.weight.t(), bias)
    return outputs.view(*inputs.shape[:-1], -1)


class _Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        read, matrix = rows.bfloat16(), weight.bfloat16()
        outputs = by_rows(read, matrix).to(rows.dtype)
        ctx.save_for_backward(read, matrix)
        ctx.has_bias = bias is not None
        return outputs if bias is None else outputs.add_(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_outputs: Tensor) -> tuple[Tensor | None, ...]:
        read, matrix = ctx.saved_tensors
        to_bias = to_outputs.sum(dim=-2, keepdim=True) if ctx.has_bias else None
        to_rows = product(to_outputs, matrix.transpose(-2, -1))
        to_weight = gradient_product(read, to_outputs, matrix.dtype)
        return to_rows, to_weight, to_bias
