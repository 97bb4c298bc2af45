"""What encoders and decoders attend to of themselves: what their own attentions give if asked."""

import pytest
import torch
from torch import nn

from regard.attention import Attention
from regard.models import Model

from . import test_pictures as pictures
from .matrix import DECODERS, ENCODERS, batch, build

SELF_ATTENTIVE_ENCODERS = [name for name in ENCODERS if name.startswith(("trans", "universal"))]
SELF_ATTENTIVE_DECODERS = [name for name in DECODERS if name.startswith(("trans", "universal"))]


def asked(part: nn.Module, run) -> list[torch.Tensor]:  # type: ignore[no-untyped-def]
    """The weights behind every call of the part's self-attentions while it runs, in order."""
    seen = []

    def watch(attention: Attention, inputs, options, _) -> None:  # type: ignore[no-untyped-def]
        if not options.get("need_weights"):
            seen.append(attention(*inputs, **{**options, "need_weights": True}).weights)

    watched = [
        module.register_forward_hook(watch, with_kwargs=True)
        for name, module in part.named_modules()
        if isinstance(module, Attention) and "cross" not in name
    ]
    run()
    for hook in watched:
        hook.remove()
    return seen


def decoded(model: Model, source, mask, inputs):  # type: ignore[no-untyped-def]
    return list(model.decoder_attention_by_layer(model.encode(source, mask), inputs))


@pytest.mark.parametrize("encoder", SELF_ATTENTIVE_ENCODERS)
@torch.no_grad()
def test_encoders_show_what_their_layers_attend_to(encoder: str) -> None:
    model = build(encoder, "transformer, pre")
    source, mask, _ = batch()
    shown = list(model.encoder_attention_by_layer(source, mask))
    expected = asked(model.encoder, lambda: model.encode(source, mask))
    if "adaptive" in encoder:  # those that have halted show their last step
        assert len(shown) == model.encoder.recurrence.steps
        assert (shown[0] - expected[0]).abs().max() < 1e-10
        steps = model.pondering(model.encode(source, mask))[..., 0].long()
        for row, column in mask.nonzero().tolist():
            last = int(steps[row, column]) - 1
            final = expected[last][row, :, column]
            assert (shown[-1][row, :, column] - final).abs().max() < 1e-10
    else:
        assert len(shown) == len(expected)
        for one, other in zip(shown, expected, strict=True):
            assert (one - other).abs().max() < 1e-10
    for weights in shown:
        assert (weights.transpose(2, 3).transpose(1, 2)[~mask] == 0).all()
        assert (weights.sum(-1).transpose(1, 2)[mask] - 1).abs().max() < 1e-10


@pytest.mark.parametrize("encoder", pictures.ENCODERS)
@torch.no_grad()
def test_encoders_of_pictures_show_what_their_layers_attend_to(encoder: str) -> None:
    model = pictures.build(encoder, "show-attend-tell")
    features, mask, _ = pictures.batch()
    shown = list(model.encoder_attention_by_layer(features, mask))
    expected = asked(model.encoder, lambda: model.encode(features, mask))
    assert len(shown) == len(expected) == pictures.ENCODERS[encoder].get("layers", 0)
    for one, other in zip(shown, expected, strict=True):
        assert (one - other).abs().max() < 1e-10
        assert (one.sum(-1) - 1).abs().max() < 1e-10


@pytest.mark.parametrize("decoder", SELF_ATTENTIVE_DECODERS)
@torch.no_grad()
def test_decoders_show_what_their_layers_attend_to(decoder: str) -> None:
    model = build("gru, both ways", decoder)
    source, mask, inputs = batch()
    shown = decoded(model, source, mask, inputs)
    expected = asked(model.decoder, lambda: model(source, mask, inputs, need_weights=False))
    assert len(shown) == model.attention_layers
    for number, weights in enumerate(shown):
        assert (weights.sum(-1) - 1).abs().max() < 1e-10
        assert (weights.triu(1) == 0).all()
        if "adaptive" not in decoder or number == 0:
            assert (weights - expected[number]).abs().max() < 1e-10
    shorter = decoded(model, source, mask, inputs[:, :2])  # what comes later changes nothing
    for one, other in zip(shorter, shown, strict=True):
        assert (one - other[:, :, :2, :2]).abs().max() < 1e-10


@torch.no_grad()
def test_recurrent_models_have_none() -> None:
    name = next(name for name in DECODERS if name.startswith("before"))
    model = build("gru, both ways", name)
    source, mask, inputs = batch()
    assert list(model.encoder_attention_by_layer(source, mask)) == []
    assert decoded(model, source, mask, inputs) == []
