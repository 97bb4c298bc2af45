"""A1-A3: the papers' GRU, the LSTM, two directions, and seq2seq without attention."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regard.nn.recurrent import CELLS, GRU, LSTM, RecurrentLayer

from . import recurrent as reference
from .build import INPUTS, SOURCES, assert_close, batch, build, randomize


def layer(kind: str, directions: int = 1) -> RecurrentLayer:
    found: RecurrentLayer = randomize(CELLS[kind](5, 4, directions)).double()
    return found


@pytest.mark.parametrize("kind", CELLS)
def test_cells_follow_their_equations(kind: str) -> None:
    chosen = layer(kind)
    x = torch.randn(3, 6, 5, dtype=torch.float64)
    outputs, final = chosen.run(x)
    assert len(final) == chosen.tensors
    for row in range(3):
        xs = list(x[row].numpy())
        states = reference.read(reference.cell(chosen), xs, reference.zero_state(chosen))
        assert_close(outputs[row], [state[0] for state in states])
        for tensor, expected in zip(final, states[-1], strict=True):
            assert_close(tensor[0, row], expected)


@pytest.mark.parametrize("kind", CELLS)
def test_a_given_first_state_is_used(kind: str) -> None:
    chosen = layer(kind)
    x = torch.randn(2, 3, 5, dtype=torch.float64)
    first = tuple(torch.randn(1, 2, 4, dtype=torch.float64) for _ in range(chosen.tensors))
    outputs, _ = chosen.run(x, first)
    for row in range(2):
        start = tuple(tensor[0, row].numpy() for tensor in first)
        states = reference.read(reference.cell(chosen), list(x[row].numpy()), start)
        assert_close(outputs[row], [state[0] for state in states])


def torch_twin(chosen: RecurrentLayer, kind: type[nn.RNNBase], order: list[int]) -> nn.RNNBase:
    """PyTorch's layer with the same matrices; `order` lists our gates in PyTorch's order."""
    twin = kind(5, 4, batch_first=True, bidirectional=chosen.directions == 2).double()
    for direction, suffix in zip(range(chosen.directions), ("", "_reverse"), strict=False):
        gates = reference.gates(chosen, direction)
        parts = {
            "weight_ih_l0": np.concatenate([gates[k].W for k in order]),
            "weight_hh_l0": np.concatenate([gates[k].U for k in order]),
            "bias_ih_l0": np.concatenate([gates[k].b for k in order]),
            "bias_hh_l0": np.zeros(4 * len(order)),
        }
        for name, numbers in parts.items():
            getattr(twin, name + suffix).data.copy_(torch.from_numpy(numbers))
    return twin


@pytest.mark.parametrize("directions", [1, 2])
def test_lstm_is_that_of_torch(directions: int) -> None:
    chosen = layer("lstm", directions)
    twin = torch_twin(chosen, nn.LSTM, [0, 1, 3, 2])  # PyTorch keeps i, f, g, o
    x = torch.randn(3, 6, 5, dtype=torch.float64)
    outputs, (hidden, memory) = chosen.run(x)
    expected, (last_hidden, last_memory) = twin(x)
    assert_close(outputs, expected.detach())
    assert_close(hidden, last_hidden.detach())
    assert_close(memory, last_memory.detach())


def test_gru_is_not_that_of_torch() -> None:
    chosen = layer("gru")
    x = torch.randn(2, 6, 5, dtype=torch.float64)
    ours, _ = chosen.run(x)
    theirs, _ = torch_twin(chosen, nn.GRU, [0, 1, 2])(x)
    assert (ours - theirs).abs().max() > 0.05
    # Not even with the meaning of z turned around: the reset gate acts before the product.
    with torch.no_grad():
        for parameter in (chosen.W, chosen.b):
            parameter[..., 4:8] *= -1
        chosen.U[..., 4:8] *= -1
    turned, _ = chosen.run(x)
    assert (turned - theirs).abs().max() > 0.05


def test_gru_is_that_of_torch_where_reset_cannot_matter() -> None:
    """With r open and z turned around the two are one function: nothing else is different."""
    chosen = layer("gru")
    with torch.no_grad():
        for parameter in (chosen.W, chosen.U):
            parameter[..., :4] = 0
        chosen.b[:4] = 50.0
    twin = torch_twin(chosen, nn.GRU, [0, 1, 2])
    for parameter in twin.parameters():
        parameter.data[4:8] *= -1
    x = torch.randn(2, 6, 5, dtype=torch.float64)
    assert_close(chosen.run(x)[0], twin(x)[0].detach())


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("kind", CELLS)
def test_encoder_reads_each_sentence_as_if_alone(
    kind: str, bidirectional: bool, layers: int
) -> None:
    encoder = {"cell": kind, "size": 4, "bidirectional": bidirectional, "layers": layers}
    model = build({"embedding": {"size": 5}, "encoder": encoder, "decoder": {"size": 6}})
    source, mask, _ = batch()
    memory = model.encode(source, mask)
    for row, sentence in enumerate(SOURCES):
        reading = reference.encode(model, sentence)
        assert_close(memory.states[row, : len(sentence)], reading.h)
        for found, expected in zip(memory.final, reading.final, strict=True):
            for part, tensor in enumerate(found):
                assert_close(tensor[:, row], [end[part] for end in expected])


def test_both_directions_are_there() -> None:
    """Changing the last word changes the backward half of h_1, and not its forward half."""
    model = build({"embedding": {"size": 5}, "encoder": {"size": 4}, "decoder": {"size": 6}})
    everywhere = torch.ones(1, 5, dtype=torch.bool)
    one = model.encode(torch.tensor([[4, 5, 6, 7, 8]]), everywhere).states[0, 0]
    other = model.encode(torch.tensor([[4, 5, 6, 7, 9]]), everywhere).states[0, 0]
    assert torch.equal(one[:4], other[:4])
    assert not torch.equal(one[4:], other[4:])


SEQ2SEQ: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"readout": "none"}),
    ("constant context", {"constant_context": True}),
    ("maxout", {}),
    ("two layers", {"constant_context": True, "layers": 2, "readout": "none"}),
    ("layer norm", {"layer_norm": True}),
    ("residual", {"layers": 3, "residual": True, "readout": "none"}),
    ("both", {"constant_context": True, "layers": 2, "residual": True, "layer_norm": True}),
]


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize(("name", "options"), SEQ2SEQ, ids=[name for name, _ in SEQ2SEQ])
def test_seq2seq(name: str, options: dict[str, Any], kind: str) -> None:
    decoder = {"attend": "never", "cell": kind, "size": 6, "readout_size": 3, **options}
    same = {key: decoder[key] for key in ("layers", "residual", "layer_norm") if key in decoder}
    encoder = {"cell": kind, "size": 4, **same}
    model = build({"embedding": {"size": 5}, "encoder": encoder, "decoder": decoder})
    decoded = model(*batch())
    assert decoded.attention is None
    for row, (sentence, inputs) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        assert_close(decoded.log_probabilities[row], reference.seq2seq(model, sentence, inputs))


def test_seq2seq_from_an_encoder_without_cell() -> None:
    """A GRU's states start an LSTM: its cell from a projection of the same states (A16)."""
    decoder = {"attend": "never", "cell": "lstm", "size": 6, "readout_size": 3}
    encoder = {"cell": "gru", "size": 4, "bidirectional": False}
    model = build({"embedding": {"size": 5}, "encoder": encoder, "decoder": decoder})
    decoded = model(*batch())
    for row, (sentence, inputs) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        assert_close(decoded.log_probabilities[row], reference.seq2seq(model, sentence, inputs))


def test_without_attention_only_the_last_state_tells_of_the_source() -> None:
    """The bottleneck: two sources with one last state are one source."""
    model = build(
        {
            "embedding": {"size": 5},
            "encoder": {"size": 4},
            "decoder": {"attend": "never", "size": 6, "constant_context": True},
        }
    )
    source, mask, inputs = batch()
    memory = model.encode(source, mask)
    swapped = memory.select(torch.tensor([1, 0, 2]))
    mixed = type(memory)(swapped.key, swapped.value, swapped.key_mask, final=memory.final)
    step = model.step(inputs[:, 0], model.start(memory)).log_probabilities
    assert torch.equal(model.step(inputs[:, 0], model.start(mixed)).log_probabilities, step)


@pytest.mark.parametrize("kind", [GRU, LSTM])
def test_start_of_parameters(kind: type[RecurrentLayer]) -> None:
    """Recurrent matrices orthogonal, biases zero but for the forget gate's, which is 1."""
    chosen = kind(5, 4, 2)
    for direction in chosen.U:
        for block in direction.split(4, dim=1):
            assert torch.allclose(block @ block.t(), torch.eye(4), atol=1e-5)
    bias = chosen.b.view(2, chosen.gates, 4)
    assert (bias[:, 0] == 0).all()
    assert (bias[:, 1] == (1.0 if kind is LSTM else 0.0)).all()
    assert (bias[:, 2:] == 0).all()
