"""A layer norm and all linear layers that read it, forward and backward, as one product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.nn.kernels.products import by_rows, factor, weight_gradient


def normed_linears(
    inputs: Float[Tensor, "*batch size"],
    norm: nn.LayerNorm | None,
    linears: Sequence[nn.Linear],
    relu: bool = False,
) -> tuple[Float[Tensor, "*batch outputs"], ...]:
    """``LayerNorm(inputs) W^T + b`` of each of the linear layers, which all have biases.

    norm: None leaves it out. relu: of all results ``max(0, .)``, in the precision of factors: they
    are for a product to read.
    """
    scale = (None, None, 0.0) if norm is None else (norm.weight, norm.bias, norm.eps)
    matrices = [linear.weight for linear in linears] + [linear.bias for linear in linears]
    outputs: tuple[Tensor, ...] = _NormedLinears.apply(inputs, *scale, relu, *matrices)
    return outputs


class _NormedLinears(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        gain: Tensor | None,
        shift: Tensor | None,
        epsilon: float,
        relu: bool,
        *matrices: Tensor,
    ) -> tuple[Tensor, ...]:
        rows = inputs.reshape(-1, inputs.shape[-1])
        read, mean, deviation = rows, None, None
        if gain is not None:
            read, mean, deviation = torch.native_layer_norm(
                rows, [rows.shape[1]], gain, shift, epsilon
            )
        read = factor(read)
        weights, biases = (_joined(half) for half in _halves(matrices))
        outputs = by_rows(read, weights.to(read.dtype).t())
        outputs = outputs.add_(biases).relu_() if relu else outputs.to(rows.dtype).add_(biases)
        of_norm = (None,) * 5 if gain is None else (rows, mean, deviation, gain, shift)
        ctx.save_for_backward(read, weights, outputs if relu else None, *of_norm)
        ctx.shape, ctx.sizes = inputs.shape, [len(weight) for weight in _halves(matrices)[0]]
        return outputs.view(*inputs.shape[:-1], -1).split(ctx.sizes, dim=-1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *to_outputs: Tensor) -> tuple[Tensor | None, ...]:
        read, weights, outputs, rows, mean, deviation, gain, shift = ctx.saved_tensors
        gradient = _joined([part.reshape(len(read), -1) for part in to_outputs], dim=1)
        if outputs is not None:
            gradient = torch.ops.aten.threshold_backward(gradient, outputs, 0)
        to_biases = gradient.sum(dim=0, dtype=weights.dtype)
        gradient = gradient.to(read.dtype)
        to_weights = weight_gradient(read, gradient).to(weights.dtype)
        to_read = by_rows(gradient, weights.to(read.dtype)).to(weights.dtype)
        of_norm: tuple[Tensor | None, ...] = (to_read, None, None)
        if gain is not None:
            of_norm = torch.ops.aten.native_layer_norm_backward(
                to_read, rows, [rows.shape[1]], mean, deviation, gain, shift, [True, True, True]
            )
        to_rows, to_gain, to_shift = of_norm
        assert to_rows is not None
        to_matrices = (*to_weights.split(ctx.sizes), *to_biases.split(ctx.sizes))
        return to_rows.view(ctx.shape), to_gain, to_shift, None, None, *to_matrices


def _halves(matrices: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    """Weights and biases."""
    half = len(matrices) // 2
    return matrices[:half], matrices[half:]


def _joined(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Side by side; a single one as it is."""
    return torch.cat(list(tensors), dim=dim) if len(tensors) > 1 else tensors[0]
