"""A16: what passes from the encoder to the decoder's first state."""

from typing import Any

import pytest
import torch

from regard.attention import Memory
from regard.errors import UserError
from regard.models import Model, ModelConfiguration, build_model

from .matrix import batch


def build(
    start: dict[str, str], encoder: dict[str, Any], decoder: dict[str, Any] | None = None
) -> Model:
    sections = {
        "embedding": {"size": 5},
        "encoder": {"kind": "recurrent", "size": 4, **encoder},
        "decoder": {"kind": "recurrent", "size": 8, "start": start, **(decoder or {})},
    }
    model = build_model(ModelConfiguration.model_validate(sections), 13, 13)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.double().eval()


def summary(memory: Any, source: str, layer: int, part: int) -> torch.Tensor:
    """Row by row, from the encoder's own results."""
    lengths = memory.key_mask.sum(1).tolist()
    if source == "mean":
        return torch.stack([memory.states[i, :n].mean(0) for i, n in enumerate(lengths)])
    tensor = memory.final[layer][part]
    if source == "backward_first":
        return tensor[1]
    return torch.cat(list(tensor), dim=-1)


@pytest.mark.parametrize("projection", ["tanh", "linear", "none"])
@pytest.mark.parametrize("source", ["last", "mean", "backward_first"])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
@torch.no_grad()
def test_every_way(cell: str, source: str, projection: str) -> None:
    size = 8 if source == "backward_first" else 4
    model = build(
        {"from": source, "projection": projection}, {"cell": cell, "size": size}, {"cell": cell}
    )
    rows, mask, _ = batch()
    memory = model.encode(rows, mask)
    (state,) = model.start(memory).layers
    assert len(state) == (2 if cell == "lstm" else 1)
    for part, tensor in enumerate(state):
        expected = summary(memory, source, 0, part)
        if projection != "none":
            linear = list(model.decoder.start_layers.projections)[part]
            expected = expected @ linear.weight.t() + linear.bias
            expected = expected.tanh() if projection == "tanh" else expected
        assert tensor.shape == (1, 3, 8)
        assert torch.allclose(tensor[0], expected, atol=1e-12)


@torch.no_grad()
def test_last_states_are_those_of_the_outputs() -> None:
    """Of one layer: forward at each row's last word, backward at its first."""
    model = build({"from": "last", "projection": "none"}, {})
    rows, mask, _ = batch()
    memory = model.encode(rows, mask)
    lengths = mask.sum(1)
    forward = memory.states[torch.arange(3), lengths - 1, :4]
    backward = memory.states[:, 0, 4:]
    (state,) = model.start(memory).layers
    assert torch.equal(state[0][0], torch.cat([forward, backward], dim=-1))


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@torch.no_grad()
def test_zero(cell: str) -> None:
    model = build({"from": "zero"}, {}, {"cell": cell, "layers": 2})
    rows, mask, _ = batch()
    state = model.start(model.encode(rows, mask)).layers
    assert len(state) == 2
    assert all((tensor == 0).all() and tensor.shape == (1, 3, 8) for s in state for tensor in s)
    assert not list(model.decoder.start_layers.parameters())


@torch.no_grad()
def test_layer_by_layer() -> None:
    """As many layers: each from its own; else all from the last."""
    rows, mask, _ = batch()
    last = {"from": "last", "projection": "none"}
    for layers, expected in ((2, [0, 1]), (3, [1, 1, 1])):
        model = build(last, {"cell": "lstm", "layers": 2}, {"cell": "lstm", "layers": layers})
        memory = model.encode(rows, mask)
        for state, number in zip(model.start(memory).layers, expected, strict=True):
            for part in (0, 1):
                assert torch.equal(state[part][0], summary(memory, "last", number, part))


@pytest.mark.parametrize("source", ["last", "mean"])
@torch.no_grad()
def test_a_transformer_is_summed_up_by_its_mean(source: str) -> None:
    transformer = {"kind": "transformer", "heads": 1, "layers": 1}
    sections = {
        "embedding": {"size": 8},
        "encoder": transformer,
        "decoder": {
            "kind": "recurrent",
            "size": 8,
            "start": {"from": source, "projection": "none"},
        },
    }
    model = build_model(ModelConfiguration.model_validate(sections), 13, 13).double().eval()
    rows, mask, _ = batch()
    memory = model.encode(rows, mask)
    (state,) = model.start(memory).layers
    assert torch.allclose(state[0][0], summary(memory, "mean", 0, 0), atol=1e-12)
    assert isinstance(memory, Memory) and not memory.final


@torch.no_grad()
def test_a_cell_from_an_encoder_without_one() -> None:
    """Each has a projection of its own."""
    model = build({"from": "last"}, {"cell": "gru"}, {"cell": "lstm"})
    rows, mask, _ = batch()
    memory = model.encode(rows, mask)
    ((hidden, cell),) = model.start(memory).layers
    expected = summary(memory, "last", 0, 0)
    first, second = model.decoder.start_layers.projections
    assert torch.allclose(hidden[0], (expected @ first.weight.t() + first.bias).tanh(), atol=1e-12)
    assert torch.allclose(cell[0], (expected @ second.weight.t() + second.bias).tanh(), atol=1e-12)


@pytest.mark.parametrize(
    ("start", "encoder", "message"),
    [
        (
            {"from": "backward_first"},
            {"bidirectional": False},
            "model: start from 'backward_first' needs a bidirectional encoder",
        ),
        (
            {"from": "last", "projection": "none"},
            {"size": 5},
            "model: start with projection 'none' needs encoder states of size 8, not 10: "
            "use 'tanh' or 'linear'",
        ),
    ],
)
def test_what_cannot_start(start: dict[str, str], encoder: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        build(start, encoder)
    assert str(caught.value) == message
