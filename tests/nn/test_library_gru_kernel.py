"""The kernel for a whole run of the libraries' GRU: its steps, and torch's own layer."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.nn.kernels.library_gru import run_library_gru
from regard.nn.recurrent import LibraryGRU

from .whole_run import (
    LIMITS,
    both_types,
    check_gradients,
    check_inputs_untouched,
    check_last_state_alone,
    check_saturated,
    check_steps,
    drawn,
    every_mask,
)


@both_types
@pytest.mark.parametrize("directions", [1, 2])
@every_mask
def test_is_its_steps(mask: list | None, directions: int, dtype: torch.dtype) -> None:
    check_steps(LibraryGRU, mask, directions, dtype)


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_by_numbers(masked: bool) -> None:
    check_gradients(run_library_gru, [(4, 2, 2, 9), (2, 2, 3), (2, 3, 9), (2, 1, 3)], masked)


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
    found = drawn(LibraryGRU, directions, dtype)
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
    check_last_state_alone(LibraryGRU)


def test_saturated_gates_stay_finite() -> None:
    check_saturated(LibraryGRU)


def test_inputs_are_left_alone() -> None:
    check_inputs_untouched(run_library_gru, [(4, 1, 2, 9), (1, 2, 3), (1, 3, 9), (1, 1, 3)])
