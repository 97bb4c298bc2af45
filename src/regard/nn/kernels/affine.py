"""``x W + b`` of many rows, of rounded factors where they are to be."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.nn.kernels.products import gradient_product, is_rounded


def affine(
    rows: Float[Tensor, "batch rows size"],
    weight: Float[Tensor, "batch size outputs"],
    bias: Float[Tensor, "batch 1 outputs"],
) -> Float[Tensor, "batch rows outputs"]:
    """``rows weight + bias`` of each of the batch."""
    if not is_rounded():
        return torch.baddbmm(bias, rows, weight)
    outputs: Tensor = _Affine.apply(rows, weight, bias)
    return outputs


def linear(
    inputs: Float[Tensor, "*batch size"], layer: nn.Linear
) -> Float[Tensor, "*batch outputs"]:
    """``layer(inputs)``; the bias may be missing."""
    if not is_rounded():
        outputs: Tensor = layer(inputs)
        return outputs
    rows = inputs.reshape(1, -1, inputs.shape[-1])
    weight, bias = layer.weight.t()[None], layer.bias
    outputs = _Affine.apply(rows, weight, None if bias is None else bias[None, None])
    return outputs.view(*inputs.shape[:-1], -1)


class _Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        read, matrix = rows.bfloat16(), weight.bfloat16()
        outputs = torch.bmm(read, matrix).to(rows.dtype)
        ctx.save_for_backward(read, matrix)
        ctx.has_bias = bias is not None
        return outputs if bias is None else outputs.add_(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_outputs: Tensor) -> tuple[Tensor | None, ...]:
        read, matrix = ctx.saved_tensors
        to_bias = to_outputs.sum(dim=1, keepdim=True) if ctx.has_bias else None
        to_rows = torch.bmm(to_outputs.to(matrix.dtype), matrix.transpose(1, 2))
        to_weight = gradient_product(read, to_outputs, matrix.dtype)
        return to_rows.to(to_outputs.dtype), to_weight, to_bias
