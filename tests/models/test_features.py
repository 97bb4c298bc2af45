"""Features in a model: as symbols of the source, or read by an encoder of their own."""

from typing import Any

import pytest
import torch

from regard.errors import UserError
from regard.models import Model, ModelConfiguration, build_model
from regard.models.encoders import FeatureEncoder
from regard.training.recipes import load_recipe

FIRST, FEATURES = 10, 5  # ids 10 to 14 are features
WIDTHS = ["model.embedding.size=8", "model.encoder.dropout=0.0", "model.decoder.dropout=0.0"]
RECURRENT = [
    *WIDTHS,
    *("model.encoder.size=6", "model.decoder.size=12", "model.decoder.readout_size=12"),
    "model.decoder.attention.size=8",
]
TRANSFORMER = [*WIDTHS, "model.encoder.heads=2", "model.decoder.heads=2"]
MIXED = [
    *WIDTHS,
    "model.encoder={kind: transformer, layers: 1, heads: 2, feed_forward_size: 8}",
    "model.decoder={kind: recurrent, size: 12, readout_size: 12}",
    "model.initialization=glorot",
]
RECIPES = {
    "rnnsearch": ("rnnsearch", RECURRENT),
    "luong-general": ("luong-general", RECURRENT),
    "transformer": ("transformer-tiny", TRANSFORMER),
    "mixed": ("rnnsearch", MIXED),
}


def build(name: str, mode: str, share: bool = False) -> Model:
    recipe, settings = RECIPES[name]
    settings = [*settings, f"model.features={mode}", f"model.embedding.share={str(share).lower()}"]
    configuration = load_recipe(recipe, settings).model
    torch.manual_seed(3)
    model = build_model(configuration, FIRST + FEATURES, FIRST, FEATURES)
    for parameter in model.parameters():  # so that states differ by more than rounding
        torch.nn.init.normal_(parameter, std=0.5)
    return model.double().eval()


def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Three rows with 2, 1 and 4 features before 4, 6 and 2 symbols."""
    rows = [[11, 14, 4, 5, 6, 3], [10, 7, 8, 9, 4, 5, 3], [12, 12, 13, 11, 9, 3]]
    source = torch.zeros(3, 7, dtype=torch.long)
    for i, row in enumerate(rows):
        source[i, : len(row)] = torch.tensor(row)
    return source, source != 0, torch.tensor([[2, 4, 5], [2, 6, 7], [2, 8, 9]])


each_model = pytest.mark.parametrize("name", RECIPES)
each_mode = pytest.mark.parametrize("mode", ["joined", "encoder"])


@each_model
@each_mode
@torch.no_grad()
def test_a_row_is_read_alone_as_in_a_batch(name: str, mode: str) -> None:
    model = build(name, mode)
    source, mask, inputs = batch()
    together = model(source, mask, inputs)
    assert together.attention.shape == (3, 3, 7)
    for i, length in enumerate(mask.sum(1).tolist()):
        row, real = source[i : i + 1, :length], mask[i : i + 1, :length]
        alone = model(row, real, inputs[i : i + 1])
        assert torch.allclose(alone.log_probabilities[0], together.log_probabilities[i], atol=1e-9)
        assert torch.allclose(alone.attention[0], together.attention[i, :, :length], atol=1e-9)
        assert (together.attention[i, :, :length] > 0).all()  # features and text alike
        assert (together.attention[i, :, length:] == 0).all()


@each_model
@each_mode
@torch.no_grad()
def test_steps_are_forward(name: str, mode: str) -> None:
    model = build(name, mode)
    source, mask, inputs = batch()
    whole = model(source, mask, inputs)
    state = model.start(model.encode(source, mask))
    for i in range(inputs.shape[1]):
        step = model.step(inputs[:, i], state)
        state = step.state
        assert torch.allclose(step.log_probabilities, whole.log_probabilities[:, i], atol=1e-9)
        assert torch.allclose(step.attention, whole.attention[:, i], atol=1e-9)


@each_model
@torch.no_grad()
def test_an_own_encoder_leaves_the_text_as_it_is_without_features(name: str) -> None:
    """States of the text, and how it ended, are those of the text alone."""
    model = build(name, "encoder")
    assert isinstance(model.feature_encoder, FeatureEncoder)
    source, mask, _ = batch()
    memory = model.encode(source, mask)
    assert memory.apart is not None and memory.apart.sum(1).tolist() == [2, 1, 4]
    assert memory.key_mask is not None and torch.equal(memory.key_mask, mask)
    for i, (count, length) in enumerate(zip((2, 1, 4), mask.sum(1).tolist(), strict=True)):
        text = source[i : i + 1, count:length]
        alone = model._encode_text(text, torch.ones_like(text, dtype=torch.bool))
        assert torch.allclose(memory.states[i, count:length], alone.states[0], atol=1e-9)
        for layer, own in zip(memory.final, alone.final, strict=True):
            for tensor, expected in zip(layer, own, strict=True):
                assert torch.allclose(tensor[:, i], expected[:, 0], atol=1e-9)


@pytest.mark.parametrize("start", ["last", "mean", "backward_first"])
@torch.no_grad()
def test_the_first_state_comes_from_the_text_alone(start: str) -> None:
    sections: dict[str, Any] = {
        "features": "encoder",
        "embedding": {"size": 8},
        "encoder": {"kind": "recurrent", "size": 6},
        "decoder": {"kind": "recurrent", "size": 12, "start": {"from": start}},
    }
    model = build_model(
        ModelConfiguration.model_validate(sections), FIRST + FEATURES, FIRST, FEATURES
    ).eval()
    source, mask, _ = batch()
    other = source.clone()
    other[source >= FIRST] = FIRST + 2
    first, second = (model.start(model.encode(rows, mask)) for rows in (source, other))
    for one, two in zip(first.layers, second.layers, strict=True):
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(one, two, strict=True))
    joined = build("rnnsearch", "joined")
    first, second = (joined.start(joined.encode(rows, mask)) for rows in (source, other))
    assert not torch.allclose(first.layers[0][0], second.layers[0][0], atol=1e-3)


@torch.no_grad()
def test_order_and_brackets_of_features_matter() -> None:
    model = build("rnnsearch", "encoder")
    source, mask, inputs = batch()
    turned = source.clone()
    turned[0, :2] = source[0, :2].flip(0)
    first, second = (model(rows, mask, inputs).log_probabilities for rows in (source, turned))
    assert not torch.allclose(first[0], second[0], atol=1e-6)
    assert torch.allclose(first[1:], second[1:], atol=1e-9)


@torch.no_grad()
def test_rows_are_selected_with_their_features() -> None:
    model = build("mixed", "encoder")
    source, mask, _ = batch()
    memory = model.encode(source, mask)
    chosen = memory.select(torch.tensor([2, 0, 2]))
    assert chosen.apart is not None and chosen.apart.sum(1).tolist() == [4, 2, 4]
    started = model.start(chosen).layers[0][0]
    assert torch.allclose(started[:, 1], model.start(memory).layers[0][0][:, 0], atol=1e-12)


@each_mode
@pytest.mark.parametrize("name", ["rnnsearch", "transformer"])
def test_sizes_with_a_shared_matrix(name: str, mode: str) -> None:
    """Features have rows of their own; what is written stays the text's vocabulary."""
    model = build(name, mode, share=True)
    rows = FIRST + FEATURES if mode == "joined" else FIRST
    assert model.source_embedding is model.target_embedding
    assert model.source_embedding.weight.shape[0] == rows
    assert model.output_weights()[0].shape[0] == FIRST
    source, mask, inputs = batch()
    decoded = model(source, mask, inputs)
    assert decoded.log_probabilities.shape == (3, 3, FIRST)
    decoded.log_probabilities.sum().backward()
    table = model.source_embedding if mode == "joined" else model.feature_encoder.embedding
    gradients = table.weight.grad[-FEATURES:].abs().sum(1)
    assert (gradients > 0).all()  # each of the five is in the batch


def test_a_shared_matrix_needs_a_joint_vocabulary() -> None:
    configuration = ModelConfiguration.model_validate({"embedding": {"share": True}})
    with pytest.raises(UserError, match=r"embedding\.share needs a joint vocabulary"):
        build_model(configuration, FIRST + FEATURES, FIRST + 1, FEATURES)


@pytest.mark.parametrize("decoder", [{"attend": "never"}, {"attention": {"local": "monotonic"}}])
def test_features_that_nothing_would_read_are_refused(decoder: dict[str, Any]) -> None:
    sections = {"features": "encoder", "decoder": {"kind": "recurrent", **decoder}}
    with pytest.raises(ValueError, match="attention over the whole source"):
        ModelConfiguration.model_validate(sections)
    ModelConfiguration.model_validate({**sections, "features": "joined"})


def test_without_features_the_key_means_nothing() -> None:
    sizes = {}
    for mode in ("joined", "encoder"):
        configuration = ModelConfiguration.model_validate({"features": mode})
        sizes[mode] = {
            name: parameter.shape
            for name, parameter in build_model(configuration, 12, 12).named_parameters()
        }
    assert sizes["joined"] == sizes["encoder"]
