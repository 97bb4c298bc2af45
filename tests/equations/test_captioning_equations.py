"""A1, A10, A11, A12: captioning, from the vectors of a grid to log-probabilities."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.models import Model, ModelConfiguration, build_model
from regard.models.encoders import GridShape

from . import captioning as reference
from .build import INPUTS, TARGET_VOCABULARY, assert_close, randomize
from .recurrent import affine, array

SHAPE = GridShape(2, 3, 4)
DECODER: dict[str, Any] = {
    "kind": "recurrent",
    "cell": "lstm",
    "size": 6,
    "readout": "deep",
    "start": {"from": "mean", "projection": "mlp"},
}
SOFT = {"attend": "before", "attention": {"score": "additive", "size": 7, "gate": True}}
TELL = {"attend": "never", "constant_context": True, "constant_context_from": "start"}


def build(decoder: dict[str, Any], encoder: dict[str, Any] | None = None, seed: int = 1) -> Model:
    """A tiny captioning model in evaluation mode, every parameter random."""
    sections = {
        "embedding": {"size": 5},
        "encoder": {"kind": "grid", **(encoder or {})},
        "decoder": {**DECODER, **decoder},
    }
    chosen = ModelConfiguration.model_validate(sections)
    return randomize(build_model(chosen, 0, TARGET_VOCABULARY, grid=SHAPE), seed).double().eval()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Grids, their mask, and INPUTS."""
    generator = torch.Generator().manual_seed(2)
    grids = torch.randn(len(INPUTS), 6, SHAPE.size, generator=generator, dtype=torch.float64)
    return grids, torch.ones(len(INPUTS), 6, dtype=torch.bool), torch.tensor(INPUTS)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("hard", [False, True])
def test_show_attend_and_tell(seed: int, hard: bool) -> None:
    attention = {**SOFT["attention"], "select": "hard" if hard else "soft"}
    model = build({**SOFT, "attention": attention}, seed=seed)
    grids, mask, inputs = batch()
    decoded, unseen = model(grids, mask, inputs), model(grids, mask, inputs, need_weights=False)
    for row, tokens in enumerate(INPUTS):
        expected = reference.show_attend_tell(model, list(grids[row].numpy()), tokens, hard=hard)
        assert_close(decoded.log_probabilities[row], expected.log_p)
        assert_close(unseen.log_probabilities[row], expected.log_p)
        assert_close(decoded.attention[row], expected.alpha)


def test_deep_output_with_the_tanh_of_the_code() -> None:
    model = build({**SOFT, "readout": "deep_tanh"})
    grids, mask, inputs = batch()
    decoded = model(grids, mask, inputs)
    for row, tokens in enumerate(INPUTS):
        expected = reference.show_attend_tell(model, list(grids[row].numpy()), tokens)
        assert_close(decoded.log_probabilities[row], expected.log_p)


def test_grids_that_are_projected() -> None:
    """Attention and first state read W a_j."""
    model = build(SOFT, {"size": 8})
    grids, mask, inputs = batch()
    decoded = model(grids, mask, inputs)
    for row, tokens in enumerate(INPUTS):
        grid = [affine(model.encoder.projection, a) for a in grids[row].numpy()]
        expected = reference.show_attend_tell(model, grid, tokens)
        assert_close(decoded.log_probabilities[row], expected.log_p)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_show_and_tell(seed: int) -> None:
    """A1: h_0 an MLP of the features, c = h_0."""
    model = build(TELL, seed=seed)
    grids, mask, inputs = batch()
    decoded = model(grids, mask, inputs)
    assert decoded.attention is None
    for row, tokens in enumerate(INPUTS):
        expected = reference.show_tell(model, list(grids[row].numpy()), tokens)
        assert_close(decoded.log_probabilities[row], expected)


def test_state_and_cell_have_networks_of_their_own() -> None:
    model = build(SOFT)
    of_state, of_cell = model.decoder.start_layers.projections
    assert not (set(of_state.parameters()) & set(of_cell.parameters()))
    grids, mask, _ = batch()
    ((s, m),) = model.start(model.encode(grids, mask)).layers
    assert not torch.allclose(s, m)
    for row in range(len(INPUTS)):
        mean = grids[row].numpy().mean(0)
        assert_close(s[0, row], reference.mlp(of_state, mean))
        assert_close(m[0, row], reference.mlp(of_cell, mean))
    assert array(of_state[0].weight).shape == (SHAPE.size, SHAPE.size)
