"""The kernel for a whole GRU run against its steps through autograd."""

import pytest
import torch
from torch import Tensor

from regard.nn.kernels.gru import run_gru
from regard.nn.recurrent import GRU, RecurrentLayer

LIMITS = {torch.float32: 1e-5, torch.float64: 1e-12}
both_types = pytest.mark.parametrize("dtype", LIMITS, ids=["float32", "float64"])
MASKS = {
    "no padding": None,
    "behind": [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]],
    "anywhere": [[0, 1, 0, 1, 1], [1, 1, 1, 1, 0], [0, 0, 0, 1, 0]],
    "a row of nothing": [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 1]],
}


def layer(directions: int, dtype: torch.dtype) -> GRU:
    found = GRU(3, 4, directions).to(dtype)
    for parameter in found.parameters():
        torch.nn.init.normal_(parameter)
    return found


def run(found: GRU, by_kernel: bool, mask: Tensor | None, dtype: torch.dtype) -> list[Tensor]:
    """Outputs, final state, and gradients of inputs, first state and parameters."""
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(3, 5, 3, dtype=dtype, generator=generator, requires_grad=True)
    first = torch.randn(
        found.directions, 3, 4, dtype=dtype, generator=generator, requires_grad=True
    )
    found.zero_grad()
    steps = GRU.steps if by_kernel else RecurrentLayer.steps
    found.steps = steps.__get__(found)  # type: ignore[method-assign]
    outputs, (final,) = found.run(x, (first,), mask)
    outward = torch.randn(outputs.shape, dtype=dtype, generator=generator)
    ((outputs * outward).sum() + (2 * final).sum()).backward()
    gradients = [tensor.grad.clone() for tensor in (x, first, *found.parameters())]
    return [outputs, final, *gradients]


@both_types
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("mask", MASKS.values(), ids=list(MASKS))
def test_is_its_steps(mask: list | None, directions: int, dtype: torch.dtype) -> None:
    found = layer(directions, dtype)
    chosen = None if mask is None else torch.tensor(mask, dtype=torch.bool)
    for one, other in zip(
        run(found, True, chosen, dtype), run(found, False, chosen, dtype), strict=True
    ):
        assert one.shape == other.shape
        assert (one - other).abs().max() < LIMITS[dtype] * (1 + other.abs().max())


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_by_numbers(masked: bool) -> None:
    known = torch.randn(4, 2, 2, 9, dtype=torch.float64, requires_grad=True)
    state = torch.randn(2, 2, 3, dtype=torch.float64, requires_grad=True)
    U = torch.randn(2, 3, 9, dtype=torch.float64, requires_grad=True)
    keep = (torch.rand(4, 2, 2, 1) < 0.6) if masked else None
    assert torch.autograd.gradcheck(lambda *given: run_gru(*given, keep), (known, state, U))


def test_only_the_states_that_are_used_matter() -> None:
    """The last state alone, as a decoder without attention uses it."""
    found = layer(2, torch.float64)
    x = torch.randn(3, 5, 3, dtype=torch.float64, requires_grad=True)
    _, (final,) = found.run(x)
    final[0].sum().backward()
    assert x.grad is not None and (x.grad.abs().amax((0, 2)) > 0).all()
    assert found.U.grad is not None
    assert (found.U.grad[1] == 0).all() and found.U.grad[0].abs().max() > 0


def test_saturated_gates_stay_finite() -> None:
    found = layer(1, torch.float32)
    x = 1e4 * torch.randn(2, 6, 3)
    x.requires_grad_()
    outputs, _ = found.run(x)
    outputs.sum().backward()
    assert outputs.abs().max() <= 1
    assert x.grad is not None and x.grad.isfinite().all()


def test_inputs_are_left_alone() -> None:
    known, state, U = torch.randn(4, 1, 2, 9), torch.randn(1, 2, 3), torch.randn(1, 3, 9)
    copies = [tensor.clone() for tensor in (known, state, U)]
    for tensor in (known, state, U):
        tensor.requires_grad_()
    run_gru(known, state, U).sum().backward()
    for tensor, copy in zip((known, state, U), copies, strict=True):
        assert torch.equal(tensor, copy)
