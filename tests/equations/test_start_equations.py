"""A16: the decoder's first state, from what the encoder's equations give, sentence by sentence."""

from typing import Any

import numpy as np
import pytest

from regard.models import Model
from regard.nn.recurrent import CELLS

from . import recurrent as reference
from .build import SOURCES, assert_close, batch, build

Array = np.ndarray


def summary(reading: reference.Reading, source: str, part: int) -> Array:
    """h_S forward and h_1 backward joined (or the cells there), the mean of h_j, or h_1 backward.

    There is one layer. A cell that the encoder lacks is made of what its state is made of.
    """
    if source == "mean":
        return np.mean(reading.h, axis=0)
    ends = [end[part if part < len(end) else 0] for end in reading.final[0]]
    return ends[1] if source == "backward_first" else np.concatenate(ends)


def first_state(model: Model, sentence: list[int], start: dict[str, str]) -> list[Array]:
    """State, and an LSTM's cell, each through its own matrix where there is one."""
    tensors = model.decoder.cells.first().tensors
    size = model.decoder.cells.first().size
    if start["from"] == "zero":
        return [np.zeros(size)] * tensors
    reading = reference.encode(model, sentence)
    parts = [summary(reading, start["from"], part) for part in range(tensors)]
    if start["projection"] == "none":
        return parts
    linears = list(model.decoder.start_layers.projections)
    moved = [reference.affine(linear, part) for linear, part in zip(linears, parts, strict=True)]
    return [np.tanh(part) for part in moved] if start["projection"] == "tanh" else moved


@pytest.mark.parametrize("projection", ["tanh", "linear", "none"])
@pytest.mark.parametrize("source", ["last", "mean", "backward_first", "zero"])
@pytest.mark.parametrize(
    ("encoder_cell", "cell"), [*((cell, cell) for cell in CELLS), ("gru", "lstm"), ("lstm", "gru")]
)
def test_first_states(encoder_cell: str, cell: str, source: str, projection: str) -> None:
    """Two directions become one by a matrix, or as they are: joined, or the backward one alone."""
    joined = projection == "none" and source != "backward_first"
    start = {"from": source, "projection": projection}
    decoder: dict[str, Any] = {"cell": cell, "size": 8 if joined else 4, "start": start}
    encoder = {"cell": encoder_cell, "size": 4}
    model = build({"embedding": {"size": 5}, "encoder": encoder, "decoder": decoder})
    memory = model.encode(*batch()[:2])
    (state,) = model.start(memory).layers
    for row, sentence in enumerate(SOURCES):
        expected = first_state(model, sentence, start)
        assert len(state) == len(expected) == CELLS[cell].tensors
        for tensor, numbers in zip(state, expected, strict=True):
            assert_close(tensor[0, row], numbers)


@pytest.mark.parametrize("source", ["last", "mean"])
def test_one_direction(source: str) -> None:
    start = {"from": source, "projection": "none"}
    encoder = {"cell": "lstm", "size": 4, "bidirectional": False}
    decoder = {"cell": "lstm", "size": 4, "start": start}
    model = build({"embedding": {"size": 5}, "encoder": encoder, "decoder": decoder})
    (state,) = model.start(model.encode(*batch()[:2])).layers
    for row, sentence in enumerate(SOURCES):
        for tensor, numbers in zip(state, first_state(model, sentence, start), strict=True):
            assert_close(tensor[0, row], numbers)
