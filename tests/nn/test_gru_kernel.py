"""The kernel for a whole GRU run against its steps through autograd."""

import pytest
import torch

from regard.nn.kernels.gru import run_gru
from regard.nn.recurrent import GRU

from .whole_run import (
    both_types,
    check_gradients,
    check_inputs_untouched,
    check_last_state_alone,
    check_saturated,
    check_steps,
    every_mask,
)


@both_types
@pytest.mark.parametrize("directions", [1, 2])
@every_mask
def test_is_its_steps(mask: list | None, directions: int, dtype: torch.dtype) -> None:
    check_steps(GRU, mask, directions, dtype)


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_by_numbers(masked: bool) -> None:
    check_gradients(run_gru, [(4, 2, 2, 9), (2, 2, 3), (2, 3, 9)], masked)


def test_only_the_states_that_are_used_matter() -> None:
    check_last_state_alone(GRU)


def test_saturated_gates_stay_finite() -> None:
    check_saturated(GRU)


def test_inputs_are_left_alone() -> None:
    check_inputs_untouched(run_gru, [(4, 1, 2, 9), (1, 2, 3), (1, 3, 9)])
