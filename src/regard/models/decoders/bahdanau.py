"""Bahdanau's decoder over all teacher-forced steps at once, by a kernel (EQUATIONS A4, A5, A10)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from regard.attention import Attention
from regard.attention.scores import AdditiveScore
from regard.models.decoders.recurrent_state import RecurrentState, Steps
from regard.models.encoded import Encoded
from regard.nn.embedding import Lookup
from regard.nn.kernels.attentive_gru import run_attentive_gru
from regard.nn.kernels.attentive_lstm import run_attentive_lstm
from regard.nn.layers import Layers
from regard.nn.recurrent import GRU, LSTM, RecurrentLayer


def kernel_cell(
    cells: Layers[RecurrentLayer], attention: Attention, memory: Encoded
) -> GRU | LSTM | None:
    """The one cell, where it and what it attends with are what the kernels compute; else None.

    No row of the memory may be all padding.
    """
    cell = cells.first()
    if len(cells) > 1 or not isinstance(cell, (GRU, LSTM)) or not is_bahdanaus(attention):
        return None
    hidden = memory.key_mask
    return cell if hidden is None or bool(hidden.any(-1).all()) else None


def run_bahdanau(
    cell: GRU | LSTM,
    attention: Attention,
    embedded: Tensor | Lookup,
    state: RecurrentState,
    need_weights: bool | Literal["log"],
) -> Steps:
    """Attend from the state before, then the cell; step after step.

    The kernels keep no weights: they are computed once more where they are wanted.
    """
    assert attention.query_projection is not None
    assert isinstance(attention.score, AdditiveScore) and state.source is not None
    known = cell.project(embedded)
    W_a, v_a = attention.query_projection.weight, attention.score.v_a
    parts = (state.source, W_a, v_a, cell.W[embedded.shape[-1] :], cell.U, attention.gate)
    first = state.layers[0]
    if isinstance(cell, LSTM):
        states, contexts = run_attentive_lstm(known, first[0], first[1], *parts)
    else:
        states, contexts = run_attentive_gru(known, first[0], *parts)
    before = torch.cat([first[0], states[:-1]]).transpose(0, 1)
    weights = None
    if need_weights:
        weights = attention(before, state.source, need_weights=need_weights).weights
    return Steps(before, states.transpose(0, 1), contexts.transpose(0, 1), weights)


def is_bahdanaus(attention: Attention) -> bool:
    """Whether it is plain additive attention with one head over the states as they are.

    With a gate (Xu et al. 2015) or without.
    """
    return (
        isinstance(attention.score, AdditiveScore)
        and attention.plain
        and attention.heads == 1
        and attention.value_projection is None
    )
