"""Models that read pictures: the same decoders, searches and numbers over a grid of features."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention import grid_positions
from regard.errors import UserError
from regard.models import Model, ModelConfiguration, build_model
from regard.models.encoders import GridShape
from regard.search import SearchConfiguration, beam_search, greedy_search

from .matrix import DECODERS, MEAN

SHAPE = GridShape(2, 3, 5)
VOCABULARY = 13
FIXED: dict[str, Any] = {"kind": "grid", "dropout": 0.0}
ENCODERS: dict[str, dict[str, Any]] = {
    "as they are": FIXED,
    "projected and normalized": {**FIXED, "size": 6, "normalized": True},
    "sinusoidal": {**FIXED, "size": 7, "positions": "sinusoidal"},
    "learned": {**FIXED, "positions": "learned"},
    "layers": {**FIXED, "size": 8, "layers": 2, "heads": 2, "positions": "learned"},
    "layers, post": {**FIXED, "size": 8, "layers": 1, "heads": 4, "norm": "post"},
}
#: Every decoder can read a grid, but for those that copy symbols, or start from a backward state.
READERS = {
    name: {**chosen, "start": MEAN} if "start" in chosen else chosen
    for name, chosen in DECODERS.items()
    if not chosen.get("copying") and "location" not in name and not name.startswith("luong-dot")
}
COMBINATIONS = [(encoder, "show-attend-tell") for encoder in ENCODERS] + [
    ("layers", decoder) for decoder in READERS
]
every_reader = pytest.mark.parametrize(
    ("encoder", "decoder"), COMBINATIONS, ids=[f"{e} -> {d}" for e, d in COMBINATIONS]
)


def fresh(encoder: str, decoder: str, **more: Any) -> Model:
    """As `build_model` starts it, in training mode, float64."""
    sections = {"encoder": ENCODERS[encoder], "decoder": {**DECODERS[decoder], **more}}
    if "start" in DECODERS[decoder]:
        sections["decoder"]["start"] = MEAN
    chosen = ModelConfiguration.model_validate({"embedding": {"size": 8}, **sections})
    return build_model(chosen, 0, VOCABULARY, grid=SHAPE).double()


def build(encoder: str, decoder: str, **more: Any) -> Model:
    """In evaluation mode, every parameter random."""
    model = fresh(encoder, decoder, **more)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.eval()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Features of three pictures, their mask, and tokens to read."""
    features = torch.randn(3, SHAPE.rows * SHAPE.columns, SHAPE.size, dtype=torch.float64)
    inputs = torch.tensor([[2, 5, 9, 4], [2, 12, 12, 7], [2, 6, 4, 11]])
    return features, torch.ones(3, 6, dtype=torch.bool), inputs


@every_reader
@torch.no_grad()
def test_step_is_forward(encoder: str, decoder: str) -> None:
    """And a picture alone is a picture in a batch; rows can be taken in any order."""
    model = build(encoder, decoder)
    features, mask, inputs = batch()
    whole = model(features, mask, inputs)
    order = torch.tensor([2, 0, 1])
    state = model.start(model.encode(features, mask)).select(order)
    for i, tokens in enumerate(inputs.t()):
        step = model.step(tokens[order], state)
        state = step.state
        difference = step.log_probabilities - whole.log_probabilities[order, i]
        assert difference.abs().max() < 1e-10
        if step.attention is not None:
            assert (step.attention - whole.attention[order, i]).abs().max() < 1e-10
    alone = model(features[1:2], mask[1:2], inputs[1:2])
    assert (alone.log_probabilities - whole.log_probabilities[1:2]).abs().max() < 1e-10


@every_reader
def test_gradients_reach_every_parameter(encoder: str, decoder: str) -> None:
    model = fresh(encoder, decoder)
    features, mask, inputs = batch()
    losses = model.token_losses(features, mask, inputs, inputs, inputs > 0, need_spread=False)
    losses.negative_log_likelihood.sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        if not name.endswith("key_projection.bias"):  # moves all of a query's scores alike
            assert parameter.grad.abs().max() > 1e-12, name


def test_no_symbols_are_read() -> None:
    names = [name for name, _ in build("layers", "show-attend-tell").named_parameters()]
    assert not [name for name in names if name.startswith("source_embedding")]


@torch.no_grad()
def test_searches_are_those_of_texts() -> None:
    model = build("layers", "show-attend-tell")
    features, mask, _ = batch()
    memory: Any = model.encode(features, mask)
    configuration = SearchConfiguration(beam=3, maximum_length_ratio=0, maximum_length_extra=7)
    best = greedy_search(model, memory, mask.sum(1), configuration)
    found = beam_search(model, memory, mask.sum(1), configuration, nbest=3)
    for greedy, beam in zip(best, found, strict=True):
        assert len(beam) == 3 and len(greedy.tokens) <= 7
        assert greedy.attention is not None and beam[0].attention is not None
        assert beam[0].attention.shape == (len(beam[0].tokens), 6)
        assert (greedy.attention.sum(-1) - 1).abs().max() < 1e-10


@torch.no_grad()
def test_positions_tell_cells_apart() -> None:
    """Without positions cells may change places; with them they may not; rows unlike columns."""
    features, mask, inputs = batch()
    order = torch.tensor([5, 3, 4, 0, 2, 1])
    for encoder, alike in (("as they are", True), ("sinusoidal", False), ("learned", False)):
        model = build(encoder, "show-attend-tell")
        one = model(features, mask, inputs)
        other = model(features[:, order], mask, inputs)
        distance = (one.log_probabilities - other.log_probabilities).abs().max()
        assert (distance < 1e-10) == alike
        moved = (one.attention[..., order] - other.attention).abs().max()
        assert (moved < 1e-10) == alike


def test_grid_positions() -> None:
    """The row's sinusoids in the first half, the column's in the second, row by row."""
    table = grid_positions(3, 4, 9, dtype=torch.float64)
    assert table.shape == (12, 9)
    for row in range(3):
        for column in range(4):
            cell = table[row * 4 + column]
            assert torch.equal(cell[:4], grid_positions(3, 1, 9, dtype=torch.float64)[row, :4])
            assert torch.equal(cell[4:], grid_positions(1, 4, 9, dtype=torch.float64)[column, 4:])
    assert torch.allclose(table[0], torch.tensor([0, 1, 0, 1, 0, 1, 0, 1, 0], dtype=torch.float64))
    rows = {tuple(cell.tolist()) for cell in table}
    assert len(rows) == 12


@pytest.mark.parametrize("use", ["best", "expectation"])
@torch.no_grad()
def test_hard_attention_in_use(use: str) -> None:
    """One place, or the mean of all; the same every time."""
    chosen = {"attention": {"select": "hard", "hard_use": use}}
    model = build("as they are", "before, hard by expectation", **chosen)
    features, mask, inputs = batch()
    found = model(features, mask, inputs)
    again = model(features, mask, inputs)
    assert torch.equal(found.log_probabilities, again.log_probabilities)
    state = model.start(model.encode(features, mask))
    looked, _ = model.decoder._attend(state.last, state, True)
    expected = looked.weights[:, 0] @ features
    if use == "best":
        expected = features.gather(
            1, looked.weights[:, 0].argmax(-1, keepdim=True).expand(-1, -1, SHAPE.size)
        )
    assert (looked.context - expected).abs().max() < 1e-12


def test_hard_attention_in_training() -> None:
    """Batches draw or take expectations, as often as is said; draws tell how likely they were."""
    share = {"attention": {"select": "hard", "hard_expectation": 0.5}}
    model = build("as they are", "before, hard by expectation", **share).train()
    features, mask, inputs = batch()
    drawn = 0
    for _ in range(200):
        found = model.features(features, mask, inputs, inputs > 0, need_weights=True)
        assert found.attention is not None and found.attention.shape == (3, 4, 6)
        if found.chosen is None:
            continue
        drawn += 1
        assert found.chosen.log_probability.shape == (3, 1, 4)
        weights = found.attention
        entropy = -(weights * weights.log()).sum(-1)
        assert (found.chosen.entropy[:, 0] - entropy).abs().max() < 1e-10
        possible = (found.chosen.log_probability[:, 0, :, None] - weights.log()).abs().amin(-1)
        assert possible.max() < 1e-10
    assert 65 < drawn < 135
    model.eval()
    assert model.features(features, mask, inputs, inputs > 0).chosen is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"embedding": {"share": True}}, "leave embedding.share out"),
        ({"embedding": {"word_dropout": {"source": 0.1}}}, "leave embedding.word_dropout.source"),
        ({"decoder": {"attend": "before", "copying": True}}, "leave decoder.copying out"),
        ({"features": "encoder"}, "leave features out"),
    ],
)
def test_what_needs_symbols_is_refused(more: dict[str, Any], message: str) -> None:
    sections = {"encoder": FIXED, "decoder": {}, **more}
    sections["decoder"] = {"kind": "recurrent", **sections["decoder"]}
    with pytest.raises(ValueError, match=message):
        ModelConfiguration.model_validate(sections)


def test_grids_must_be_there_and_of_one_shape() -> None:
    chosen = ModelConfiguration.model_validate(
        {"encoder": FIXED, "decoder": {"kind": "recurrent", "start": MEAN}}
    )
    with pytest.raises(UserError, match="reads pictures: there are none"):
        build_model(chosen, 0, VOCABULARY)
    model = build_model(chosen, 0, VOCABULARY, grid=SHAPE)
    with pytest.raises(ValueError, match=r"\[batch, 2 \* 3, 5\], not \[1, 7, 5\]"):
        model.encode(torch.zeros(1, 7, 5), torch.ones(1, 7, dtype=torch.bool))
