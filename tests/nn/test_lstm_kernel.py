"""The kernel for a whole LSTM run against its steps through autograd."""

import pytest
import torch

from regard.nn.kernels.lstm import run_lstm
from regard.nn.recurrent import LSTM

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
    check_steps(LSTM, mask, directions, dtype)


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_by_numbers(masked: bool) -> None:
    check_gradients(run_lstm, [(4, 2, 2, 12), (2, 2, 3), (2, 2, 3), (2, 3, 12)], masked)


def test_only_the_last_state_used() -> None:
    check_last_state_alone(LSTM)


def test_saturated_gates_stay_finite() -> None:
    check_saturated(LSTM)


def test_inputs_are_left_as_they_were() -> None:
    check_inputs_untouched(run_lstm, [(4, 1, 2, 12), (1, 2, 3), (1, 2, 3), (1, 3, 12)])
