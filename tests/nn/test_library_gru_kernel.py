"""The kernel for a whole run of the libraries' GRU: its steps, and torch's own layer."""

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.nn.kernels.library_gru import run_library_gru
from regard.nn.recurrent import LibraryGRU, RecurrentLayer

LIMITS = {torch.float32: 1e-5, torch.float64: 1e-12}
both_types = pytest.mark.parametrize("dtype", LIMITS, ids=["float32", "float64"])
MASKS = {
    "no padding": None,
    "behind": [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]],
    "anywhere": [[0, 1, 0, 1, 1], [1, 1, 1, 1, 0], [0, 0, 0, 1, 0]],
    "a row of nothing": [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 1]],
}


def layer(directions: int, dtype: torch.dtype) -> LibraryGRU:
    found = LibraryGRU(3, 4, directions).to(dtype)
    for parameter in found.parameters():
        torch.nn.init.normal_(parameter)
    return found


def run(
    found: LibraryGRU, by_kernel: bool, mask: Tensor | None, dtype: torch.dtype
) -> list[Tensor]:
    """Outputs, final state, and gradients of inputs, first state and parameters."""
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(3, 5, 3, dtype=dtype, generator=generator, requires_grad=True)
    first = torch.randn(
        found.directions, 3, 4, dtype=dtype, generator=generator, requires_grad=True
    )
    found.zero_grad()
    steps = LibraryGRU.steps if by_kernel else RecurrentLayer.steps
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
    b_U = torch.randn(2, 1, 3, dtype=torch.float64, requires_grad=True)
    keep = (torch.rand(4, 2, 2, 1) < 0.6) if masked else None
    given = (known, state, U, b_U)
    assert torch.autograd.gradcheck(lambda *each: run_library_gru(*each, keep), given)


def twin(found: LibraryGRU, dtype: torch.dtype) -> torch.nn.GRU:
    """torch's layer with the same numbers; its two biases of r and z are one sum here."""
    made = torch.nn.GRU(3, 4, batch_first=True, bidirectional=found.directions == 2).to(dtype)
    for direction, suffix in zip(range(found.directions), ("", "_reverse"), strict=False):
        columns = slice(12 * direction, 12 * direction + 12)
        b_hidden = torch.randn(12, dtype=dtype)
        b_hidden[8:] = found.b_U.detach()[4 * direction : 4 * direction + 4]
        b_input = found.b.detach()[columns].clone()
        b_input[:8] -= b_hidden[:8]
        for name, numbers in {
            "weight_ih_l0": found.W.detach()[:, columns].t(),
            "weight_hh_l0": found.U.detach()[direction].t(),
            "bias_ih_l0": b_input,
            "bias_hh_l0": b_hidden,
        }.items():
            getattr(made, name + suffix).data.copy_(numbers)
    return made


@both_types
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("lengths", [[5, 5, 5], [5, 2, 3]], ids=["no padding", "padded"])
def test_is_torchs_gru(lengths: list[int], directions: int, dtype: torch.dtype) -> None:
    """States, final states, and gradients of inputs and matrices; padding is packed away there."""
    found = layer(directions, dtype)
    other = twin(found, dtype)
    x = torch.randn(3, 5, 3, dtype=dtype, requires_grad=True)
    mask = torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    ours, (last,) = found.run(x, mask=mask)
    packed = pack_padded_sequence(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
    states, expected_last = other(packed)
    expected, _ = pad_packed_sequence(states, batch_first=True)
    chosen = mask[..., None].expand_as(ours)
    results = []
    for outputs, final, module in ((ours, last, found), (expected, expected_last, other)):
        total = (outputs[chosen] * torch.arange(int(chosen.sum()))).sum() + 3 * final.sum()
        results.append(torch.autograd.grad(total, [x, *module.parameters()]))
    limit = 50 * LIMITS[dtype]
    assert torch.allclose(ours[chosen], expected[chosen], atol=limit)
    assert torch.allclose(last, expected_last, atol=limit)
    (to_x, to_W, to_U, _, to_b_U), theirs = results
    assert torch.allclose(to_x, theirs[0], rtol=limit, atol=limit)
    for direction in range(directions):
        weight, recurrent, _, hidden = theirs[1 + 4 * direction : 5 + 4 * direction]
        columns = slice(12 * direction, 12 * direction + 12)
        assert torch.allclose(to_W[:, columns].t(), weight, rtol=limit, atol=limit)
        assert torch.allclose(to_U[direction].t(), recurrent, rtol=limit, atol=limit)
        mine = to_b_U[4 * direction : 4 * direction + 4]
        assert torch.allclose(mine, hidden[8:], rtol=limit, atol=limit)


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
    shapes = [(4, 1, 2, 9), (1, 2, 3), (1, 3, 9), (1, 1, 3)]
    given = [torch.randn(*shape) for shape in shapes]
    copies = [tensor.clone() for tensor in given]
    for tensor in given:
        tensor.requires_grad_()
    run_library_gru(*given).sum().backward()
    for tensor, copy in zip(given, copies, strict=True):
        assert torch.equal(tensor, copy)
