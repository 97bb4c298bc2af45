"""Averaging: the mean of several validated weights, often better than each of them."""

from collections.abc import Sequence
from pathlib import Path

import torch

from regard.errors import UserError
from regard.training.tensors import Tensors, read_tensors


def average_weights(paths: Sequence[Path]) -> Tensors:
    """The mean of the weights in `paths`, summed in float64; tensors of integers are the last's.

    Raises UserError naming a file that is damaged or holds other tensors than the first.
    """
    total: Tensors = {}
    last: Tensors = {}
    for path in paths:
        last, _ = read_tensors(path, "validated weights")
        if total and _shapes(last) != _shapes(total):
            raise UserError(f"{path} holds other tensors than {paths[0]}: they cannot be averaged")
        for name, tensor in last.items():
            double = tensor.to(torch.float64)
            total[name] = total[name] + double if name in total else double
    return {
        name: (total[name] / len(paths)).to(tensor.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in last.items()
    }


def _shapes(tensors: Tensors) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}
