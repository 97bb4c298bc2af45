"""The kernel for Bahdanau's decoder against its steps through autograd."""

import pytest
import torch

from regard.nn.kernels.attentive_gru import run_attentive_gru
from regard.nn.recurrent import GRU

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
    check_steps(run_attentive_gru, GRU, form, masked, dtype, gate)


@pytest.mark.parametrize("masked", [False, True])
@with_a_gate
def test_gradients_by_numbers(gate: bool, masked: bool) -> None:
    check_gradients(run_attentive_gru, GRU, masked, gate)


def test_hidden_positions_get_no_weight_and_no_gradient() -> None:
    check_hidden_positions(run_attentive_gru, GRU)


@with_a_gate
def test_products_may_be_rounded(gate: bool) -> None:
    check_rounded(run_attentive_gru, GRU, gate)
