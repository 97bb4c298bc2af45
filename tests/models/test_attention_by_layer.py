"""What each layer and head attends to: of it all what is shown, whatever stands beside it."""

import pytest
import torch

from regard.models import Model
from regard.models.hard_attention_model import HardAttentionModel
from regard.search import Ensemble

from .matrix import DECODERS, batch, build

each_decoder = pytest.mark.parametrize("decoder", DECODERS)
ENCODER = "gru, both ways"


def layers_of(model: Model, source, mask, inputs):  # type: ignore[no-untyped-def]
    return list(model.attention_by_layer(model.encode(source, mask), inputs))


def shown_by(model: Model | Ensemble, source, mask, inputs):  # type: ignore[no-untyped-def]
    outputs, real = inputs.roll(-1, 1), torch.ones_like(inputs, dtype=torch.bool)
    return model.shown_attention(model.encode(source, mask), inputs, outputs, real)


@each_decoder
@torch.no_grad()
def test_layers_hold_what_is_shown(decoder: str) -> None:
    model = build(ENCODER, decoder)
    source, mask, inputs = batch()
    shown = shown_by(model, source, mask, inputs)
    if isinstance(model, HardAttentionModel):
        assert model.attention_layers == 0
        assert (shown.sum(-1) - 1).abs().max() < 1e-6
        return
    layers = layers_of(model, source, mask, inputs)
    assert len(layers) == model.attention_layers
    if not layers:
        assert shown is None and decoder.startswith(("never", "seq2seq"))
        return
    whole = model(source, mask, inputs).attention
    assert (shown - whole).abs().max() < 1e-10
    for weights in layers:
        assert weights.shape == (3, model.attention_heads, 4, 6)
        assert (weights.transpose(2, 3).transpose(1, 2)[~mask] == 0).all()
        if "local" not in decoder:
            assert (weights.sum(-1) - 1).abs().max() < 1e-10
    if "adaptive" not in decoder:  # there it is a sum over the steps
        number = getattr(model.decoder, "shown_layer", len(layers))
        assert (layers[number - 1].mean(1) - shown).abs().max() < 1e-10


@each_decoder
@torch.no_grad()
def test_layers_see_neither_padding_nor_what_comes_later(decoder: str) -> None:
    model = build(ENCODER, decoder)
    source, mask, inputs = batch()
    whole = layers_of(model, source, mask, inputs) if model.attention_layers else []
    for row, length in enumerate(mask.sum(1).tolist()):
        here = slice(row, row + 1)
        alone = (source[here, :length], mask[here, :length], inputs[here, :2])
        if not whole:
            continue
        for one, all_of_it in zip(layers_of(model, *alone), whole, strict=True):
            assert (one - all_of_it[here, :, :2, :length]).abs().max() < 1e-10


@torch.no_grad()
def test_a_layer_is_computed_when_it_is_asked_for() -> None:
    model = build(ENCODER, "transformer, pre")
    source, mask, inputs = batch()
    memory, seen = model.encode(source, mask), []
    for number, layer in enumerate(model.decoder.layers, start=1):
        layer.register_forward_hook(lambda *_, number=number: seen.append(number))
    next(model.attention_by_layer(memory, inputs))
    assert seen == [1]


@torch.no_grad()
def test_a_position_that_has_halted_shows_its_last_step() -> None:
    """Each position by its own count of steps, taken from the model's pondering."""
    model = build(ENCODER, "universal, adaptive")
    for module in model.decoder.modules():
        if isinstance(module, torch.nn.LayerNorm):  # positions differ much, and halt apart
            module.reset_parameters()
    halting = model.decoder.recurrence.halting.linear
    halting.weight.normal_(std=2.0, generator=torch.Generator().manual_seed(1))
    halting.bias.fill_(-2.0)
    source, mask, inputs = batch(12)
    layers = torch.stack(layers_of(model, source, mask, inputs))
    memory = model.encode(source, mask)
    steps = model.all_steps(memory, inputs).pondered.steps
    assert steps.min() < steps.max() == len(layers)
    for row in range(2):  # the third has one source position, which has all attention
        for position in range(12):
            last = int(steps[row, position])
            of_it = layers[:, row, :, position]
            assert (of_it[last:] == of_it[last - 1]).all()
            assert all((of_it[step] != of_it[step - 1]).any() for step in range(1, last))


@torch.no_grad()
def test_an_ensemble_shows_the_mean() -> None:
    names = ("rnnsearch", "seq2seq", "1-mono", "transformer, pre")
    members = [build(ENCODER, name) for name in names]
    source, mask, inputs = batch()
    each = [shown_by(member, source, mask, inputs) for member in members]
    assert each[1] is None
    mean = (each[0] + each[2] + each[3]) / 3
    assert (shown_by(Ensemble(members), source, mask, inputs) - mean).abs().max() < 1e-10
    assert shown_by(Ensemble(members[1:2]), source, mask, inputs) is None
