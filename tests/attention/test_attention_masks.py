"""Masks: boolean, True = may be attended, the same on every path; nothing hidden leaks."""

import itertools

import pytest
import torch

from regard.attention import Attention, Memory, causal_mask, masked_softmax

from .cases import BATCH, POSITIONS, QUERIES, Case, every_case, gradients, need_weights, random_mask

KEY_MASK = torch.tensor([[True] * POSITIONS, [True, True, False, True, False]])


def test_causal_is_aligned_bottom_right() -> None:
    assert causal_mask(2, 5).int().tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert causal_mask(3, 2).int().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert causal_mask(1, 4).all()


@every_case
@need_weights
def test_causal_is_its_explicit_mask(case: Case, need_weights: bool) -> None:
    attention = case.make()
    for queries, positions in ((5, 5), (2, 5), (5, 2), (1, 5)):
        allowed = causal_mask(queries, positions)
        q, k, v = case.inputs(positions=positions, queries=queries)
        for key_mask in (None, KEY_MASK[:, :positions]):
            found = attention(q, k, v, key_mask=key_mask, causal=True, need_weights=need_weights)
            expected = attention(q, k, v, key_mask=key_mask, mask=allowed, need_weights=True)
            assert torch.allclose(found.context, expected.context, atol=1e-5)
            if need_weights:
                assert (found.weights.masked_select(~allowed) == 0).all()
                assert torch.allclose(found.weights, expected.weights, atol=1e-6)


@every_case
@need_weights
def test_causal_alone_is_not_everything(case: Case, need_weights: bool) -> None:
    attention = case.make()
    q, k, v = case.inputs(positions=4, queries=4)
    one = attention(q, k, v, causal=True, need_weights=need_weights).context
    other = attention(q, k, v, need_weights=need_weights).context
    assert (one[:, 0] - other[:, 0]).abs().max() > 1e-3
    assert torch.allclose(one[:, -1], other[:, -1], atol=1e-5)


@every_case
@need_weights
def test_masks_are_joined(case: Case, need_weights: bool) -> None:
    """mask, key_mask and causal together are their AND, whatever the mask's shape."""
    attention = case.make()
    q, k, v = case.inputs()
    heads = attention.heads
    shapes = [(QUERIES, POSITIONS), (BATCH, 1, QUERIES, POSITIONS), (1, heads, 1, POSITIONS)]
    for shape, causal in itertools.product(shapes, [False, True]):
        mask = random_mask(*shape)
        joined = mask.expand(BATCH, heads, QUERIES, POSITIONS) & KEY_MASK[:, None, None]
        if causal:
            joined = joined & causal_mask(QUERIES, POSITIONS)
        found = attention(
            q, k, v, mask=mask, key_mask=KEY_MASK, causal=causal, need_weights=need_weights
        )
        expected = attention(q, k, v, mask=joined, need_weights=True)
        assert torch.allclose(found.context, expected.context, atol=1e-5)
        assert (expected.weights[~joined] == 0).all()
        if need_weights:
            assert torch.allclose(found.weights, expected.weights, atol=1e-6)


@every_case
@need_weights
@pytest.mark.parametrize("training", [False, True], ids=["", "training"])
@pytest.mark.parametrize("by", ["key_mask", "mask"])
def test_nothing_to_attend_to(case: Case, need_weights: bool, training: bool, by: str) -> None:
    """Context 0 before the output projection, weights 0, gradients finite, the same either way."""
    attention = case.make().train(training)
    attention.output_projection = None
    q, k, v = (tensor.requires_grad_() for tensor in case.inputs())
    visible = torch.tensor([True, False])
    masks = {
        "key_mask": visible[:, None].expand(BATCH, POSITIONS),
        "mask": visible[:, None, None, None].expand(BATCH, 1, QUERIES, POSITIONS),
    }
    context, weights = attention(q, k, v, **{by: masks[by]}, need_weights=need_weights)
    assert (context[1] == 0).all()
    assert weights is None or (weights[1] == 0).all()
    context.square().sum().backward()
    for tensor in (q, k, v):
        assert tensor.grad is not None
        assert (tensor.grad[1] == 0).all()
    alone = attention(q[:1], k[:1], v[:1], need_weights=need_weights).context
    assert torch.allclose(context[:1], alone, atol=1e-5)
    found = gradients(attention)
    attention.zero_grad()
    alone.square().sum().backward()
    for one, other in zip(found, gradients(attention), strict=True):
        assert one.isfinite().all()
        assert torch.allclose(one, other, atol=1e-4, rtol=1e-4)


@every_case
@need_weights
def test_no_positions_at_all(case: Case, need_weights: bool) -> None:
    attention = case.make()
    attention.output_projection = None
    q, k, v = case.inputs(positions=0)
    context, weights = attention(q, k, v, need_weights=need_weights)
    assert (context == 0).all()
    assert weights is None or weights.shape == (BATCH, attention.heads, QUERIES, 0)


@pytest.mark.parametrize("junk", [float("nan"), float("inf"), float("-inf"), 1e30])
@every_case
def test_junk_under_key_mask_never_leaks(case: Case, junk: float) -> None:
    """Bitwise: contexts, weights and gradients are as if zeros stood there."""
    attention = case.make()
    q, k, v = case.inputs()
    results = []
    for fill in (0.0, junk):
        hidden = ~KEY_MASK[..., None]
        inputs = [q, k.masked_fill(hidden, fill), v.masked_fill(hidden, fill)]
        inputs = [tensor.clone().requires_grad_() for tensor in inputs]
        attention.zero_grad()
        found = []
        for wanted in (False, True):
            context, weights = attention(*inputs, key_mask=KEY_MASK, need_weights=wanted)
            context.square().sum().backward()
            found += [context] + ([weights] if wanted else [])
        found += [tensor.grad for tensor in inputs]
        found += gradients(attention)
        results.append(found)
    for clean, dirty in zip(*results, strict=True):
        assert dirty.isfinite().all()
        assert torch.equal(clean, dirty)


@every_case
def test_junk_in_a_memory_never_leaks(case: Case) -> None:
    attention = case.make()
    q, k, v = case.inputs()
    hidden = ~KEY_MASK[..., None]
    dirty = Memory(k.masked_fill(hidden, torch.nan), v.masked_fill(hidden, torch.nan), KEY_MASK)
    found = attention(q, attention.prepare(dirty)).context
    assert torch.equal(found, attention(q, k, v, key_mask=KEY_MASK).context)
    assert torch.equal(found, attention(q, dirty).context)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
def test_masks_must_be_boolean(dtype: torch.dtype) -> None:
    attention = Attention(6)
    x = torch.randn(2, 4, 6)
    for wanted in (False, True):
        with pytest.raises(TypeError, match=r"mask must be boolean \(True = may be attended\)"):
            attention(x, mask=torch.ones(4, 4, dtype=dtype), need_weights=wanted)
        with pytest.raises(TypeError, match="key_mask must be boolean"):
            attention(x, key_mask=torch.ones(2, 4, dtype=dtype), need_weights=wanted)
    with pytest.raises(TypeError, match="key_mask must be boolean"):
        attention.prepare(x, key_mask=torch.ones(2, 4, dtype=dtype))


@every_case
def test_bias_is_added_to_scores(case: Case) -> None:
    """A bias of log w multiplies what the softmax sees by w; its gradient flows."""
    attention = case.make()
    q, k, v = case.inputs()
    plain = attention(q, k, v, key_mask=KEY_MASK, need_weights=True).weights
    bias = torch.randn(QUERIES, POSITIONS, requires_grad=True)
    context, weights = attention(q, k, v, key_mask=KEY_MASK, bias=bias, need_weights=True)
    expected = plain * bias.exp()
    assert torch.allclose(weights, expected / expected.sum(-1, keepdim=True), atol=1e-6)
    assert torch.equal(attention(q, k, v, key_mask=KEY_MASK, bias=bias).context, context)
    context.square().sum().backward()
    assert bias.grad is not None and bias.grad.isfinite().all() and bias.grad.abs().sum() > 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_masked_softmax_alone(dtype: torch.dtype) -> None:
    scores = torch.tensor([[1.0, torch.nan, 3.0], [torch.inf, -torch.inf, 0.0]], dtype=dtype)
    scores.requires_grad_()
    mask = torch.tensor([[True, False, True], [False, False, False]])
    weights = masked_softmax(scores, mask)
    assert weights.dtype == dtype
    expected = torch.tensor([1.0, 3.0]).softmax(-1)
    assert torch.allclose(weights[0, [0, 2]].float(), expected, atol=4e-3)
    assert (weights[1] == 0).all() and weights[0, 1] == 0
    weights[:, 0].sum().backward()
    assert scores.grad is not None and scores.grad.isfinite().all()
    assert (scores.grad[1] == 0).all() and scores.grad[0, 1] == 0
    assert torch.allclose(masked_softmax(scores[:1, :1]), torch.ones(1, 1, dtype=dtype))
