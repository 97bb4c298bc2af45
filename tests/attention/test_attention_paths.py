"""One answer from every path and in every type; dropout only where it belongs."""

import pytest
import torch

from regard.attention import Attention

from .cases import (
    BATCH,
    POSITIONS,
    QUERIES,
    Case,
    every_case,
    gradients,
    need_weights,
    only,
    random_mask,
)

KEY_MASK = random_mask(BATCH, POSITIONS)
MASK = random_mask(QUERIES, POSITIONS)
LIMITS = {torch.float16: 1e-2, torch.bfloat16: 6e-2, torch.float32: 1e-5, torch.float64: 1e-12}


@every_case
@pytest.mark.parametrize(
    ("masked", "dtype"), [(False, torch.float64), (True, torch.float32), (True, torch.float64)]
)
def test_paths_agree(case: Case, masked: bool, dtype: torch.dtype) -> None:
    """Without and with weights: values, and gradients of inputs and parameters, if they have any.

    Hard attention has none for its scores, location none for its keys.
    """
    attention = case.make().to(dtype)
    masks = {"mask": MASK, "key_mask": KEY_MASK} if masked else {}
    q, k, v = case.inputs(dtype)
    found = []
    for wanted in (False, True):
        inputs = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
        attention.zero_grad()
        context, weights = attention(*inputs, **masks, need_weights=wanted)
        assert (weights is not None) == wanted
        context.square().sum().backward()
        reached = [tensor.grad for tensor in inputs if tensor.grad is not None]
        assert len(reached) == (1 if case.hard else 2 if case.options["score"] == "location" else 3)
        found.append([context, *reached, *gradients(attention)])
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=10 * LIMITS[dtype], rtol=10 * LIMITS[dtype])


@only(hard=False)
@need_weights
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_types(case: Case, need_weights: bool, dtype: torch.dtype) -> None:
    """Low precision follows float64; types go in and come out unchanged.

    (Where two scores are near, low precision may well choose another one: not for hard attention.)
    """
    attention = case.make().to(dtype)
    q, k, v = case.inputs(dtype)
    context, weights = attention(q, k, v, mask=MASK, key_mask=KEY_MASK, need_weights=need_weights)
    assert context.dtype == dtype
    attention.double()
    exact = attention(
        q.double(), k.double(), v.double(), mask=MASK, key_mask=KEY_MASK, need_weights=True
    )
    size = exact.context.abs().max()
    assert (context.double() - exact.context).abs().max() < LIMITS[dtype] * size
    if weights is not None:
        assert weights.dtype == dtype
        assert (weights.double() - exact.weights).abs().max() < LIMITS[dtype]
        assert (weights[~MASK.expand_as(weights)] == 0).all()


@pytest.mark.parametrize("score", ["dot", "scaled_dot"])
@need_weights
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_products_beyond_float16(score: str, need_weights: bool, dtype: torch.dtype) -> None:
    """q . k = 5,760,000 is beyond float16's 65,504, also after scaling by 1/8."""
    attention = Attention(64, score=score)
    x = torch.full((2, 3, 64), 300.0, dtype=dtype)
    key_mask = torch.tensor([[True, True, False]] * 2)
    context = attention(x, key_mask=key_mask, need_weights=need_weights).context
    assert (context == 300).all()


@only(hard=False)
@need_weights
def test_autocast(case: Case, need_weights: bool) -> None:
    """Forward under autocast, backward outside it, as is usual; near what float32 gives."""
    attention = case.make()
    q, k, v = (tensor.requires_grad_() for tensor in case.inputs())
    exact = attention(q, k, v, key_mask=KEY_MASK).context
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = attention(q, k, v, key_mask=KEY_MASK, need_weights=need_weights).context
    assert (found - exact).abs().max() < 0.1 * exact.abs().max()
    found.float().square().sum().backward()
    for tensor in (q, k, v, *attention.parameters()):
        if tensor is k and case.options["score"] == "location":
            continue
        assert tensor.grad is not None and tensor.grad.isfinite().all()


@every_case
@need_weights
def test_evaluation_is_deterministic(case: Case, need_weights: bool) -> None:
    attention = case.make(dropout=0.9)
    inputs = case.inputs()
    one = attention(*inputs, need_weights=need_weights)
    other = attention(*inputs, need_weights=need_weights)
    assert torch.equal(one.context, other.context)
    without = case.make()
    without.load_state_dict(attention.state_dict())
    assert torch.equal(one.context, without(*inputs, need_weights=need_weights).context)
    if need_weights:
        assert torch.equal(one.weights, other.weights)


@only(hard=False)
def test_returned_weights_are_before_dropout(case: Case) -> None:
    """Per head, each row summing to 1 (to less with local-p), in training as in evaluation."""
    attention = case.make(dropout=0.5)
    inputs = case.inputs()
    calm = attention(*inputs, need_weights=True)
    attention.train()
    context, weights = attention(*inputs, need_weights=True)
    assert weights.shape == (BATCH, attention.heads, QUERIES, POSITIONS)
    if case.normalized:
        assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-5)
    else:
        assert (weights.sum(-1) < 1).all() and (weights >= 0).all()
    assert torch.equal(weights, calm.weights)
    assert (context - calm.context).abs().max() > 1e-3


@only(hard=False)
@need_weights
def test_dropout_is_live_in_training(case: Case, need_weights: bool) -> None:
    """Different each time, and right in the mean. (Hard attention draws instead.)"""
    attention = case.make(dropout=0.3)
    attention.output_projection = None
    one = [tensor[:1] for tensor in case.inputs()]
    calm = attention(*one).context
    attention.train()
    inputs = [tensor.expand(400, -1, -1) for tensor in one]
    many = attention(*inputs, need_weights=need_weights).context.detach()
    assert not torch.equal(many[0], many[1])
    error = (many.mean(0) - calm).abs()
    assert (error < 5 * many.std(0) / 20 + 1e-6).all()


@every_case
def test_repeated_calls_are_bitwise_equal(case: Case) -> None:
    attention = case.make()
    results = []
    for _ in range(2):
        inputs = [tensor.requires_grad_() for tensor in case.inputs()]
        for tensor, generator in zip(inputs, range(3), strict=True):
            tensor.data.normal_(generator=torch.Generator().manual_seed(generator))
        attention.zero_grad()
        context = attention(*inputs, key_mask=KEY_MASK).context
        context.square().sum().backward()
        reached = [tensor.grad for tensor in inputs if tensor.grad is not None]
        results.append([context, *reached, *gradients(attention)])
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


@every_case
def test_gradients_are_those_of_numbers(case: Case) -> None:
    attention = case.make().double()
    inputs = [tensor.requires_grad_() for tensor in case.inputs(torch.float64)]

    def contexts(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = attention(q, k, v, mask=MASK, key_mask=KEY_MASK).context
        return found

    assert torch.autograd.gradcheck(contexts, inputs, fast_mode=True)
