"""The kernel for an LSTM that attends before each step, against its steps through autograd."""

import pytest
import torch

from regard.nn.kernels.attentive_lstm import run_attentive_lstm
from regard.nn.recurrent import LSTM

from .attentive_run import (
    both_types,
    check_gradients,
    check_hidden_positions,
    check_rounded,
    check_steps,
    every_form,
    with_a_gate,
)


@both_types
@pytest.mark.parametrize("masked", [False, True], ids=["", "masked"])
@every_form
@with_a_gate
def test_is_its_steps(gate: bool, form: str, masked: bool, dtype: torch.dtype) -> None:
    check_steps(run_attentive_lstm, LSTM, form, masked, dtype, gate)


@pytest.mark.parametrize("masked", [False, True])
@with_a_gate
def test_gradients_by_numbers(gate: bool, masked: bool) -> None:
    check_gradients(run_attentive_lstm, LSTM, masked, gate)


def test_hidden_positions_get_no_weight_and_no_gradient() -> None:
    check_hidden_positions(run_attentive_lstm, LSTM)


@with_a_gate
def test_products_may_be_rounded(gate: bool) -> None:
    check_rounded(run_attentive_lstm, LSTM, gate)
