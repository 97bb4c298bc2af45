"""The same definition elsewhere, with the same weights: PyTorch's layers, and Keras' if installed.

PyTorch's padding masks are True where ours are False, and where nothing may be attended to it
gives NaN; every row here sees something.
"""

import importlib.util
import os
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention import Attention, causal_mask

from .cases import BATCH, POSITIONS, QUERIES, need_weights, random_mask

KEY_MASK = random_mask(BATCH, POSITIONS)
MASK = random_mask(QUERIES, POSITIONS, seed=5)
MASK[:, 0] = KEY_MASK[:, 0] = True
SIZES = [(8, 8, 8), (8, 6, 5)]  # PyTorch packs three projections into one matrix, or does not
sizes = pytest.mark.parametrize("sizes", SIZES, ids=["packed", "apart"])


def theirs_and_ours(sizes: tuple[int, int, int]) -> tuple[nn.MultiheadAttention, Attention]:
    """With one set of weights."""
    query, key, value = sizes
    theirs = nn.MultiheadAttention(query, 4, kdim=key, vdim=value, batch_first=True).double()
    nn.init.normal_(theirs.in_proj_bias)
    nn.init.normal_(theirs.out_proj.bias)
    ours = Attention(query, key, value, heads=4).double()
    if theirs.in_proj_weight is not None:
        weights = theirs.in_proj_weight.chunk(3)
    else:
        weights = (theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight)
    pairs = zip(weights, theirs.in_proj_bias.chunk(3), strict=True)
    with torch.no_grad():
        for name, (weight, bias) in zip(("query", "key", "value"), pairs, strict=True):
            linear = getattr(ours, f"{name}_projection")
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
        assert ours.output_projection is not None
        ours.output_projection.load_state_dict(theirs.out_proj.state_dict())
    return theirs, ours


def inputs(sizes: tuple[int, int, int], queries: int = QUERIES) -> list[Tensor]:
    counts = (queries, POSITIONS, POSITIONS)
    return [
        torch.randn(BATCH, n, size, dtype=torch.float64, requires_grad=True)
        for n, size in zip(counts, sizes, strict=True)
    ]


@sizes
@need_weights
@pytest.mark.parametrize("by", ["nothing", "mask", "padding", "both"])
def test_multi_head_attention(sizes: tuple[int, int, int], need_weights: bool, by: str) -> None:
    """torch.nn.MultiheadAttention: contexts, weights a head, gradients of inputs and weights."""
    theirs, ours = theirs_and_ours(sizes)
    q, k, v = inputs(sizes)
    mask = MASK if by in ("mask", "both") else None
    key_mask = KEY_MASK if by in ("padding", "both") else None
    expected, weights = theirs(
        q,
        k,
        v,
        key_padding_mask=None if key_mask is None else ~key_mask,
        attn_mask=None if mask is None else ~mask,
        need_weights=need_weights,
        average_attn_weights=False,
    )
    found = ours(q, k, v, mask=mask, key_mask=key_mask, need_weights=need_weights)
    assert torch.allclose(found.context, expected, atol=1e-12)
    if need_weights:
        assert torch.allclose(found.weights, weights, atol=1e-12)
    outward = torch.randn_like(expected)
    one = torch.autograd.grad(expected, [q, k, v, *theirs.parameters()], outward)
    ours_too = [q, k, v, *ours.parameters()]
    other = dict(zip(ours_too, torch.autograd.grad(found.context, ours_too, outward), strict=True))
    assert all(torch.allclose(other[x], one[i], atol=1e-12) for i, x in enumerate((q, k, v)))
    by_name = dict(zip([name for name, _ in theirs.named_parameters()], one[3:], strict=True))
    linears = (ours.query_projection, ours.key_projection, ours.value_projection)
    if "in_proj_weight" in by_name:
        packed = by_name["in_proj_weight"].chunk(3)
    else:
        packed = tuple(by_name[f"{letter}_proj_weight"] for letter in "qkv")
    for linear, weight, bias in zip(linears, packed, by_name["in_proj_bias"].chunk(3), strict=True):
        assert linear is not None
        assert torch.allclose(other[linear.weight], weight, atol=1e-12)
        assert torch.allclose(other[linear.bias], bias, atol=1e-12)
    assert ours.output_projection is not None
    assert torch.allclose(
        other[ours.output_projection.weight], by_name["out_proj.weight"], atol=1e-12
    )


@need_weights
def test_causal_multi_head_attention(need_weights: bool) -> None:
    """Self-attention, padded: causal there is a mask and a hint."""
    theirs, ours = theirs_and_ours(SIZES[0])
    (x, _, _) = inputs(SIZES[0], queries=POSITIONS)
    hidden = ~causal_mask(POSITIONS, POSITIONS)
    expected, weights = theirs(
        x,
        x,
        x,
        key_padding_mask=~KEY_MASK,
        attn_mask=hidden,
        is_causal=True,
        need_weights=need_weights,
        average_attn_weights=False,
    )
    found = ours(x, key_mask=KEY_MASK, causal=True, need_weights=need_weights)
    assert torch.allclose(found.context, expected, atol=1e-12)
    assert not need_weights or torch.allclose(found.weights, weights, atol=1e-12)


@pytest.mark.parametrize("score", ["dot", "scaled_dot"])
@pytest.mark.parametrize("key_heads", [4, 2, 1])
@need_weights
def test_scaled_dot_product_attention(score: str, key_heads: int, need_weights: bool) -> None:
    """F.scaled_dot_product_attention over heads that are not projected, masked, biased, causal."""
    ours = Attention(
        12, 3 * key_heads, 5 * key_heads, score=score, heads=4, key_heads=key_heads, project=False
    )
    q, k, v = inputs((12, 3 * key_heads, 5 * key_heads))
    heads = [
        x.unflatten(-1, (n, -1)).transpose(1, 2)
        for x, n in zip((q, k, v), (4, key_heads, key_heads), strict=True)
    ]
    scale = None if score == "scaled_dot" else 1.0
    bias = torch.randn(BATCH, 4, QUERIES, POSITIONS, dtype=torch.float64)
    hidden = torch.zeros(QUERIES, POSITIONS).double().masked_fill(~MASK, -torch.inf)
    corner = causal_mask(QUERIES, POSITIONS)
    for given, mask in (
        ({}, None),
        ({"mask": MASK}, MASK),
        ({"bias": bias}, bias),
        ({"bias": bias, "mask": MASK}, bias + hidden),
        ({"causal": True}, corner),
    ):
        expected = F.scaled_dot_product_attention(
            *heads, attn_mask=mask, scale=scale, enable_gqa=key_heads < 4
        )
        found = ours(q, k, v, **given, need_weights=need_weights).context
        joined = expected.transpose(1, 2).flatten(2)
        assert torch.allclose(found, joined, atol=1e-12)
        outward = torch.randn_like(found)
        one = torch.autograd.grad(found, (q, k, v), outward)
        other = torch.autograd.grad(joined, (q, k, v), outward)
        assert all(torch.allclose(a, b, atol=1e-12) for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def keras() -> Any:
    """Keras 3 on PyTorch. Its backend is chosen by the environment when it is first imported."""
    if importlib.util.find_spec("keras") is None:
        pytest.importorskip("keras", reason="Keras is not a requirement: pip install keras")
    os.environ["KERAS_BACKEND"] = "torch"
    module = pytest.importorskip("keras", reason="Keras does not run here")
    if module.backend.backend() != "torch":
        pytest.skip("Keras was imported before with another backend")
    return module


def test_keras_additive_attention(keras: Any) -> None:
    """Its additive score has no matrices: ours with W = U = 1 and v = its scale."""
    layer = keras.layers.AdditiveAttention()
    q, k, v = (tensor.detach().float() for tensor in inputs((6, 6, 7)))
    hidden = [torch.ones(BATCH, QUERIES, dtype=torch.bool), KEY_MASK]
    layer([q, v, k])
    scale = torch.randn(6)
    layer.scale.assign(scale)
    ours = Attention(6, 6, 7, score="additive")
    with torch.no_grad():
        ours.score.v_a.copy_(scale[None])
        for linear in (ours.query_projection, ours.key_projection):
            assert linear is not None
            linear.weight.copy_(torch.eye(6))
    for mask in (None, hidden):
        expected, weights = layer([q, v, k], mask=mask, return_attention_scores=True)
        found = ours(q, k, v, key_mask=None if mask is None else KEY_MASK, need_weights=True)
        assert torch.allclose(found.context, expected, atol=1e-5)
        assert torch.allclose(found.weights[:, 0], weights, atol=1e-6)


def test_keras_attention(keras: Any) -> None:
    """Its dot product, unscaled."""
    layer = keras.layers.Attention()
    q, k, v = (tensor.detach().float() for tensor in inputs((6, 6, 7)))
    hidden = [torch.ones(BATCH, QUERIES, dtype=torch.bool), KEY_MASK]
    expected, weights = layer([q, v, k], mask=hidden, return_attention_scores=True)
    found = Attention(6, 6, 7, score="dot")(q, k, v, key_mask=KEY_MASK, need_weights=True)
    assert torch.allclose(found.context, expected, atol=1e-5)
    assert torch.allclose(found.weights[:, 0], weights, atol=1e-6)


def test_keras_multi_head_attention(keras: Any) -> None:
    """With its weights: [inputs, heads, part] there, [heads part, inputs] here."""
    layer = keras.layers.MultiHeadAttention(4, 3, value_dim=3, output_shape=8)
    q, k, v = (tensor.detach().float() for tensor in inputs((8, 6, 5)))
    layer(q, v, k)
    ours = Attention(8, 6, 5, heads=4, hidden_size=12)
    with torch.no_grad():
        for name in ("query", "key", "value"):
            kernel, _ = (
                torch.as_tensor(w.numpy()) for w in getattr(layer, f"_{name}_dense").weights
            )
            getattr(ours, f"{name}_projection").weight.copy_(kernel.flatten(1).T)
        kernel, _ = (torch.as_tensor(w.numpy()) for w in layer._output_dense.weights)
        assert ours.output_projection is not None
        ours.output_projection.weight.copy_(kernel.flatten(0, 1).T)
    mask = MASK & KEY_MASK[:, None]
    expected, weights = layer(q, v, k, attention_mask=mask, return_attention_scores=True)
    found = ours(q, k, v, mask=MASK, key_mask=KEY_MASK, need_weights=True)
    assert torch.allclose(found.context, expected, atol=1e-5)
    assert torch.allclose(found.weights, weights, atol=1e-6)
