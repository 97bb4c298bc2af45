"""Sublayers by kernels against the plain modules, and their gradients against those of numbers."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Memory
from regard.nn import sublayers
from regard.nn.kernels.normed_linears import normed_linears
from regard.nn.kernels.residual_linear import residual_linear
from regard.nn.randomness import drawing_from
from regard.nn.transformer import DecoderLayer, EncoderLayer, LayerOptions

LIMITS = {torch.float32: 2e-5, torch.float64: 1e-12}
both_types = pytest.mark.parametrize("dtype", LIMITS, ids=["float32", "float64"])
OPTIONS: dict[str, dict[str, Any]] = {
    "pre": {},
    "post": {"norm": "post"},
    "gelu": {"activation": "gelu"},
    "swiglu": {"activation": "swiglu", "norm": "post"},
    "dropout everywhere": {"dropout": 0.3, "feed_forward_dropout": 0.2},
    "rotary": {"position_scheme": "rotary"},
    "alibi": {"position_scheme": "alibi"},
    "relative": {"position_scheme": "relative"},
    "shared keys": {"key_heads": 1},
}
KEY_MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 0, 1, 1, 0]], dtype=torch.bool)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call it and no kernel is taken any more."""
    return lambda: monkeypatch.setattr(sublayers, "fuses", lambda inputs: False)


def drawn(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """With every parameter at random, biases and norms too."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.to(dtype)


def computed(module: nn.Module, inputs: list[Tensor], call: Any) -> list[Tensor]:
    """What the call gives, and the gradients of inputs and parameters."""
    module.zero_grad()
    fresh = [tensor.clone().requires_grad_() for tensor in inputs]
    with drawing_from(torch.Generator().manual_seed(5)):
        output = call(*fresh)
    outward = torch.randn(output.shape, generator=torch.Generator().manual_seed(6))
    (output * outward.to(output.dtype)).sum().backward()
    gradients = [tensor.grad for tensor in (*fresh, *module.parameters())]
    assert all(gradient is not None for gradient in gradients)
    return [output, *gradients]


def agree(found: list[Tensor], expected: list[Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        size = max(1.0, other.abs().max().item())
        assert (one - other).abs().max() < LIMITS[other.dtype] * size


@both_types
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
def test_encoder_layer(
    options: dict[str, Any], masked: bool, dtype: torch.dtype, plain: Any
) -> None:
    layer = drawn(EncoderLayer(LayerOptions(8, 2, 12, **{"dropout": 0.0, **options})), dtype)
    x = torch.randn(3, 5, 8, dtype=dtype)
    key_mask = KEY_MASK if masked else None
    found = computed(layer, [x], lambda x: layer(x, key_mask))
    plain()
    agree(found, computed(layer, [x], lambda x: layer(x, key_mask)))


@both_types
@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
def test_decoder_layer(options: dict[str, Any], dtype: torch.dtype, plain: Any) -> None:
    layer = DecoderLayer(LayerOptions(8, 2, 12, **{"dropout": 0.0, **options}), 6)
    drawn(layer, dtype)
    x, memory = torch.randn(3, 4, 8, dtype=dtype), torch.randn(3, 5, 6, dtype=dtype)

    def call(x: Tensor, states: Tensor) -> Tensor:
        output: Tensor = layer(x, layer.read(Memory(states, states, KEY_MASK)))[0]
        return output

    found = computed(layer, [x, memory], call)
    plain()
    agree(found, computed(layer, [x, memory], call))


@both_types
def test_weights_are_those_of_the_plain_way(dtype: torch.dtype, plain: Any) -> None:
    layer = drawn(DecoderLayer(LayerOptions(8, 2, 12, dropout=0.0), 6), dtype)
    x, states = torch.randn(3, 4, 8, dtype=dtype), torch.randn(3, 5, 6, dtype=dtype)
    memory = Memory(states, states, KEY_MASK)
    found = [layer(x, layer.read(memory), need_weights=wanted)[2] for wanted in (True, "log")]
    plain()
    expected = [layer(x, layer.read(memory), need_weights=wanted)[2] for wanted in (True, "log")]
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=LIMITS[dtype])


@both_types
def test_a_row_without_anything_to_attend_to(dtype: torch.dtype, plain: Any) -> None:
    layer = drawn(EncoderLayer(LayerOptions(8, 2, 12, dropout=0.0)), dtype)
    x, key_mask = torch.randn(3, 5, 8, dtype=dtype), KEY_MASK.clone()
    key_mask[1] = False
    found = computed(layer, [x], lambda x: layer(x, key_mask))
    assert all(tensor.isfinite().all() for tensor in found)
    plain()
    agree(found, computed(layer, [x], lambda x: layer(x, key_mask)))


def test_what_stands_in_padding_reaches_nothing() -> None:
    layer = drawn(EncoderLayer(LayerOptions(8, 2, 12, dropout=0.0)), torch.float64)
    x = torch.randn(3, 5, 8, dtype=torch.float64)
    found = []
    for junk in (1.0, -300.0):
        inputs = torch.where(KEY_MASK[..., None], x, junk).requires_grad_()
        output = layer(inputs, KEY_MASK)[KEY_MASK]
        (gradient,) = torch.autograd.grad(output.square().sum(), inputs)
        assert (gradient[~KEY_MASK] == 0).all()
        found.append((output, gradient))
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("normed", [False, True])
def test_normed_linears_have_the_gradients_of_numbers(normed: bool, relu: bool) -> None:
    norm = nn.LayerNorm(4).double() if normed else None
    linears = [nn.Linear(4, outputs).double() for outputs in (3, 5)]
    parameters = [p for module in (norm, *linears) if module for p in module.parameters()]
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)

    def outputs(x: Tensor, *_: Tensor) -> tuple[Tensor, ...]:
        return normed_linears(x, norm, linears, relu)

    assert torch.autograd.gradcheck(outputs, (x, *parameters))


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("rate", [0.0, 0.4])
def test_residual_linear_has_the_gradients_of_numbers(size: int, rate: float) -> None:
    linear = nn.Linear(size, 3).double()
    x = torch.randn(2, 5, size, dtype=torch.float64, requires_grad=True)
    residual = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)

    def outputs(residual: Tensor, x: Tensor, *_: Tensor) -> Tensor:
        with drawing_from(torch.Generator().manual_seed(5)):
            return residual_linear(residual, x, linear, rate)

    assert torch.autograd.gradcheck(outputs, (residual, x, *linear.parameters()))


def test_one_output_unused() -> None:
    linears = [nn.Linear(4, outputs) for outputs in (3, 5)]
    x = torch.randn(2, 3, 4, requires_grad=True)
    used, _ = normed_linears(x, None, linears)
    used.sum().backward()
    assert linears[1].weight.grad is not None and (linears[1].weight.grad == 0).all()
    assert x.grad is not None
    assert torch.allclose(x.grad, linears[0].weight.sum(0).expand_as(x))


def test_kernels_are_for_gradients_on_a_processor_in_full_precision() -> None:
    x = torch.randn(2, 3)
    assert sublayers.fuses(x) and sublayers.fuses(x.double())
    assert not sublayers.fuses(x.half()) and not sublayers.fuses(x[:0])
    with torch.no_grad():
        assert not sublayers.fuses(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert not sublayers.fuses(x)
    assert not sublayers.fuses(torch.empty(2, 3, device="meta"))
