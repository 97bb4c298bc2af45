"""What ends a sublayer, forward and backward: a linear layer, dropout, the residual connection."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.nn.dropout import keep
from regard.nn.kernels.products import by_rows, factor, weight_gradient


def residual_linear(
    residual: Float[Tensor, "*batch outputs"],
    inputs: Float[Tensor, "*batch size"],
    linear: nn.Linear,
    dropout: float,
) -> Float[Tensor, "*batch outputs"]:
    """``residual + dropout(inputs W^T + b)``; the linear layer has a bias.

    Dropout is as of `regard.nn.dropout`.
    """
    outputs: Tensor = _ResidualLinear.apply(residual, inputs, linear.weight, linear.bias, dropout)
    return outputs


class _ResidualLinear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, residual: Tensor, inputs: Tensor, weight: Tensor, bias: Tensor, dropout: float
    ) -> Tensor:
        read = factor(inputs.reshape(-1, inputs.shape[-1]))
        outputs = by_rows(read, weight.to(read.dtype).t()).to(residual.dtype).add_(bias)
        outputs = outputs.view(residual.shape)
        kept, scale = keep(outputs, dropout) if dropout else (None, 1.0)
        if kept is None:
            outputs.add_(residual)
        else:
            torch.addcmul(residual, outputs, kept, value=scale, out=outputs)
        ctx.save_for_backward(read, weight, kept)
        ctx.scale, ctx.inputs = scale, (inputs.shape, inputs.dtype)
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_outputs: Tensor) -> tuple[Tensor | None, ...]:
        read, weight, kept = ctx.saved_tensors
        gradient = to_outputs if kept is None else to_outputs * kept
        gradient = gradient.reshape(len(read), -1)
        to_bias = gradient.sum(dim=0).mul_(ctx.scale)
        gradient = gradient.to(read.dtype)
        to_weight = weight_gradient(read, gradient).to(weight.dtype) * ctx.scale
        to_inputs = by_rows(gradient, (weight * ctx.scale).to(read.dtype))
        shape, dtype = ctx.inputs
        return to_outputs, to_inputs.to(dtype).view(shape), to_weight, to_bias, None
