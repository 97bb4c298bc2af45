"""The kernel for a whole LSTM run against its steps through autograd."""

import pytest
import torch
from torch import Tensor

from regard.nn.kernels.lstm import run_lstm
from regard.nn.recurrent import LSTM, RecurrentLayer

LIMITS = {torch.float32: 1e-5, torch.float64: 1e-12}
MASKS = {
    "no padding": None,
    "behind": [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]],
    "anywhere": [[0, 1, 0, 1, 1], [1, 1, 1, 1, 0], [0, 0, 0, 1, 0]],
    "a row of nothing": [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 1]],
}


def run(layer: LSTM, by_kernel: bool, mask: Tensor | None, dtype: torch.dtype) -> list[Tensor]:
    """Outputs, final state and cell, and every gradient."""
    generator = torch.Generator().manual_seed(5)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=dtype, generator=generator, requires_grad=True)

    x, first, cell = drawn(3, 5, 3), drawn(layer.directions, 3, 4), drawn(layer.directions, 3, 4)
    layer.zero_grad()
    steps = LSTM.steps if by_kernel else RecurrentLayer.steps
    layer.steps = steps.__get__(layer)  # type: ignore[method-assign]
    outputs, (final, last) = layer.run(x, (first, cell), mask)
    outward = torch.randn(outputs.shape, dtype=dtype, generator=generator)
    ((outputs * outward).sum() + (2 * final).sum() + (last * last).sum()).backward()
    gradients = [tensor.grad.clone() for tensor in (x, first, cell, *layer.parameters())]
    return [outputs, final, last, *gradients]


@pytest.mark.parametrize("dtype", LIMITS, ids=["float32", "float64"])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("mask", MASKS.values(), ids=list(MASKS))
def test_is_its_steps(mask: list | None, directions: int, dtype: torch.dtype) -> None:
    layer = LSTM(3, 4, directions).to(dtype)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    chosen = None if mask is None else torch.tensor(mask, dtype=torch.bool)
    for one, other in zip(
        run(layer, True, chosen, dtype), run(layer, False, chosen, dtype), strict=True
    ):
        assert one.shape == other.shape
        assert (one - other).abs().max() < LIMITS[dtype] * (1 + other.abs().max())


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_by_numbers(masked: bool) -> None:
    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, requires_grad=True)

    given = (drawn(4, 2, 2, 12), drawn(2, 2, 3), drawn(2, 2, 3), drawn(2, 3, 12))
    keep = (torch.rand(4, 2, 2, 1) < 0.6) if masked else None
    assert torch.autograd.gradcheck(lambda *tensors: run_lstm(*tensors, keep), given)


def test_only_the_last_state_used() -> None:
    """A decoder without attention reads the last state and cell alone."""
    layer = LSTM(3, 4, 2).double()
    x = torch.randn(3, 5, 3, dtype=torch.float64, requires_grad=True)
    _, (final, cell) = layer.run(x)
    (final[0].sum() + cell[0].sum()).backward()
    assert x.grad is not None and (x.grad.abs().amax((0, 2)) > 0).all()
    assert layer.U.grad is not None and (layer.U.grad[1] == 0).all()


def test_saturated_gates_stay_finite() -> None:
    layer = LSTM(3, 4)
    x = (1e4 * torch.randn(2, 6, 3)).requires_grad_()
    outputs, _ = layer.run(x)
    outputs.sum().backward()
    assert outputs.isfinite().all() and x.grad is not None and x.grad.isfinite().all()


def test_inputs_are_left_as_they_were() -> None:
    projected = torch.randn(4, 1, 2, 12)
    hidden, cell, U = torch.randn(1, 2, 3), torch.randn(1, 2, 3), torch.randn(1, 3, 12)
    before = [tensor.clone() for tensor in (projected, hidden, cell, U)]
    run_lstm(projected, hidden, cell, U)
    for tensor, copy in zip((projected, hidden, cell, U), before, strict=True):
        assert torch.equal(tensor, copy)
