"""Parameters: shared where they should be, all in use, and where they start."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.data.batches import Batch
from regard.models import GridShape, Model, ModelConfiguration, build_model
from regard.models.encoders import GridEncoder
from regard.nn.recurrent import RecurrentLayer
from regard.training.objective import batch_loss
from regard.training.recipes import load_recipe, recipe_names

from .matrix import DECODERS, MEAN, batch, every_combination, fresh

TIED = {"embedding": {"size": 8, "share": True, "tie_output": True, "scaled": True}}


def recipe(name: str, vocabulary: int, *overrides: str) -> Model:
    chosen = load_recipe(name, overrides).model
    return build_model(chosen, vocabulary, vocabulary, grid=GridShape(3, 4, 8))


def loss_of_guessing(
    model: Model, source: Tensor, mask: Tensor, inputs: Tensor, outputs: Tensor
) -> Tensor:
    """Of all outputs, by the route that the model has."""
    real = torch.ones_like(inputs, dtype=torch.bool)
    given = Batch(source, mask, inputs, outputs, real, list(range(len(source))))
    return batch_loss(model, given).loss


def test_tied_embeddings_are_one_matrix() -> None:
    model = fresh("transformer, pre", "transformer, pre", **TIED)
    one = model.source_embedding.weight
    assert model.target_embedding.weight is one and model.output.weight is one
    assert sum(parameter is one for parameter in model.parameters()) == 1
    separate = fresh("transformer, pre", "transformer, pre")
    count = sum(parameter.numel() for parameter in separate.parameters())
    assert sum(parameter.numel() for parameter in model.parameters()) == count - 2 * one.numel()
    # Still so after loading, converting and a step of training.
    model.load_state_dict({name: tensor + 1 for name, tensor in model.state_dict().items()})
    model.double()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    source, mask, inputs = batch()
    model(source, mask, inputs).log_probabilities.sum().backward()
    optimizer.step()
    pointers = {
        weight.data_ptr()
        for weight in (
            model.source_embedding.weight,
            model.target_embedding.weight,
            model.output.weight,
        )
    }
    assert len(pointers) == 1


def test_scaled_embeddings_enter_at_unit_variance() -> None:
    model = recipe("transformer-tiny", 4000)
    entering = model.source_embedding(torch.arange(4000))
    assert entering.var().item() == pytest.approx(1.0, rel=0.02)
    assert model.output.weight.var().item() == pytest.approx(1 / 128, rel=0.02)


@every_combination
def test_gradients_reach_every_parameter(encoder: str, decoder: str) -> None:
    model = fresh(encoder, decoder).double()
    source, mask, inputs = batch()
    loss_of_guessing(model, source, mask, inputs, torch.randint(0, 13, (3, 4))).backward()
    chosen = DECODERS[decoder]
    without_states = chosen.get("attend") == "never" and chosen.get("start") != MEAN
    for name, parameter in model.named_parameters():
        if without_states and name.startswith("encoder.stacking.norms.1."):
            continue  # the norm of states that nothing reads
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        if not name.endswith("key_projection.bias"):  # moves all of a query's scores alike
            assert parameter.grad.abs().max() > 1e-12, name


@pytest.mark.parametrize("name", recipe_names())
@torch.no_grad()
def test_first_loss_is_that_of_guessing(name: str) -> None:
    """ln V; a tied output has rows of N(0, 1/d) under features of norm sqrt(d), so logits of
    variance 1, which add a half. Half of what a model that copies gives is for copying."""
    vocabulary = 5000
    model = recipe(name, vocabulary).eval()
    lengths = torch.tensor([9, 12, 5, 7] * 4)
    mask = torch.arange(12)[None] < lengths[:, None]
    source = torch.randint(4, vocabulary, (16, 12))
    if isinstance(model.encoder, GridEncoder):
        source, mask = torch.randn(16, 12, 8), torch.ones_like(mask)
    inputs, targets = torch.randint(4, vocabulary, (2, 16, 30))
    loss = loss_of_guessing(model, source, mask, inputs, targets)
    tied = model.output.weight is model.target_embedding.weight
    expected = math.log(vocabulary) + (0.5 if tied else 0.0) + (math.log(2) if model.copies else 0)
    assert loss.item() == pytest.approx(expected, abs=0.3)


class TestBahdanausStart:
    """Appendix B.1 of the paper."""

    model = recipe("rnnsearch", 300, "model.initialization=bahdanau")

    def test_attention_starts_uniform(self) -> None:
        source, mask, inputs = batch()
        attention = self.model(source, mask, inputs).attention
        expected = mask / mask.sum(1, keepdim=True)
        assert torch.allclose(attention, expected[:, None].expand(-1, 4, -1), atol=1e-6)
        assert (self.model.decoder.attention.score.v_a == 0).all()

    def test_deviations(self) -> None:
        attention = self.model.decoder.attention
        for linear in (attention.query_projection, attention.key_projection):
            assert linear.weight.std().item() == pytest.approx(0.001, rel=0.03)
        readout = self.model.decoder.readout.linear
        cell = self.model.decoder.cells.first()
        for weight in (self.model.source_embedding.weight, readout.weight, cell.W):
            assert weight.std().item() == pytest.approx(0.01, rel=0.03)
        for bias in (readout.bias, cell.b, self.model.output.bias):
            assert (bias == 0).all()

    def test_recurrent_matrices_are_orthogonal(self) -> None:
        layers = [part for part in self.model.modules() if isinstance(part, RecurrentLayer)]
        assert len(layers) == 2
        for layer in layers:
            for direction in layer.U:
                for block in direction.split(layer.size, dim=1):
                    assert torch.allclose(block @ block.t(), torch.eye(layer.size), atol=1e-4)

    def test_v_a_leaves_zero_at_the_first_step(self) -> None:
        model = recipe("rnnsearch", 300, "model.initialization=bahdanau")
        source, mask, inputs = batch()
        model(source, mask, inputs).log_probabilities.square().sum().backward()
        assert model.decoder.attention.score.v_a.grad.abs().max() > 0


def test_luongs_start() -> None:
    """Section 4.1: everything from U(-0.1, 0.1)."""
    model = recipe("luong-general", 300, "model.initialization=luong")
    for name, parameter in model.named_parameters():
        assert parameter.abs().max() <= 0.1, name
        if parameter.numel() > 1000:
            assert parameter.std().item() == pytest.approx(0.1 / math.sqrt(3), rel=0.1), name


@pytest.mark.parametrize("kind", ["bahdanau", "luong"])
def test_layer_norms_stay_open(kind: Any) -> None:
    model = fresh("transformer, pre", "transformer, pre", initialization=kind)
    norms = [part for part in model.modules() if isinstance(part, nn.LayerNorm)]
    assert norms
    for norm in norms:
        assert (norm.weight == 1).all() and (norm.bias == 0).all()


def test_two_models_of_one_seed_are_equal() -> None:
    chosen: ModelConfiguration = load_recipe("rnnsearch").model
    models = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        models.append(build_model(chosen, 20, 20).state_dict())
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])
    assert not torch.equal(models[0]["output.weight"], models[2]["output.weight"])
