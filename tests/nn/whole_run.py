"""A kernel for a whole run of a recurrent layer: against its steps through autograd, and alone."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from regard.nn.recurrent import RecurrentLayer

LIMITS = {torch.float32: 1e-5, torch.float64: 1e-12}
both_types = pytest.mark.parametrize("dtype", LIMITS, ids=["float32", "float64"])
MASKS = {
    "no padding": None,
    "behind": [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]],
    "anywhere": [[0, 1, 0, 1, 1], [1, 1, 1, 1, 0], [0, 0, 0, 1, 0]],
    "a row of nothing": [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 1]],
}
every_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=list(MASKS))

Kind = type[RecurrentLayer]


def drawn(kind: Kind, directions: int, dtype: torch.dtype) -> RecurrentLayer:
    """A layer from 3 numbers to 4, all of its parameters normal."""
    layer = kind(3, 4, directions).to(dtype)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    return layer


def run(
    layer: RecurrentLayer, by_kernel: bool, mask: Tensor | None, dtype: torch.dtype
) -> list[Tensor]:
    """Outputs, final state, and gradients of inputs, first state and parameters."""
    generator = torch.Generator().manual_seed(4)
    shapes = [(3, 5, 3), *[(layer.directions, 3, 4)] * layer.tensors]
    x, *first = (
        torch.randn(shape, dtype=dtype, generator=generator, requires_grad=True) for shape in shapes
    )
    layer.zero_grad()
    steps = type(layer).steps if by_kernel else RecurrentLayer.steps
    layer.steps = steps.__get__(layer)  # type: ignore[method-assign]
    outputs, final = layer.run(x, tuple(first), mask)
    outward = torch.randn(outputs.shape, dtype=dtype, generator=generator)
    total = (outputs * outward).sum() + (2 * final[0]).sum()
    (total + sum((cell * cell).sum() for cell in final[1:])).backward()
    gradients = [tensor.grad.clone() for tensor in (x, *first, *layer.parameters())]
    return [outputs, *final, *gradients]


def check_steps(kind: Kind, mask: list | None, directions: int, dtype: torch.dtype) -> None:
    """The kernel gives what the steps give, forward and backward."""
    layer = drawn(kind, directions, dtype)
    chosen = None if mask is None else torch.tensor(mask, dtype=torch.bool)
    for one, other in zip(
        run(layer, True, chosen, dtype), run(layer, False, chosen, dtype), strict=True
    ):
        assert one.shape == other.shape
        assert (one - other).abs().max() < LIMITS[dtype] * (1 + other.abs().max())


def check_gradients(
    kernel: Callable[..., object], shapes: Sequence[tuple[int, ...]], masked: bool
) -> None:
    """By finite differences. shapes: of what the kernel takes, without its mask, four steps."""
    given = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    keep = (torch.rand(4, 2, 2, 1) < 0.6) if masked else None
    assert torch.autograd.gradcheck(lambda *each: kernel(*each, keep), given)


def check_last_state_alone(kind: Kind) -> None:
    """Used alone, as a decoder without attention does, the last state reaches every input."""
    layer = drawn(kind, 2, torch.float64)
    x = torch.randn(3, 5, 3, dtype=torch.float64, requires_grad=True)
    _, final = layer.run(x)
    sum(tensor[0].sum() for tensor in final).backward()
    assert x.grad is not None and (x.grad.abs().amax((0, 2)) > 0).all()
    assert layer.U.grad is not None
    assert (layer.U.grad[1] == 0).all() and layer.U.grad[0].abs().max() > 0


def check_saturated(kind: Kind) -> None:
    """Gates of 0 and 1 leave finite numbers."""
    layer = drawn(kind, 1, torch.float32)
    x = (1e4 * torch.randn(2, 6, 3)).requires_grad_()
    outputs, _ = layer.run(x)
    outputs.sum().backward()
    assert outputs.abs().max() <= 1
    assert x.grad is not None and x.grad.isfinite().all()


def check_inputs_untouched(
    kernel: Callable[..., Tensor | tuple[Tensor, ...]], shapes: Sequence[tuple[int, ...]]
) -> None:
    """Neither the run nor its gradient writes into what it was given."""
    given = [torch.randn(shape) for shape in shapes]
    copies = [tensor.clone() for tensor in given]
    for tensor in given:
        tensor.requires_grad_()
    found = kernel(*given)
    outputs = found if isinstance(found, tuple) else (found,)
    sum(output.sum() for output in outputs).backward()
    for tensor, copy in zip(given, copies, strict=True):
        assert torch.equal(tensor, copy)
