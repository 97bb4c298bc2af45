"""Masks: boolean, True = may be attended, the same on every path; nothing hidden leaks."""

import itertools

import pytest
import torch

from regard.attention import Attention, Memory, causal_mask, masked_softmax

from .cases import (
    BATCH,
    POSITIONS,
    QUERIES,
    Case,
    every_case,
    gradients,
    last_places,
    need_weights,
    only,
    random_mask,
)

KEY_MASK = torch.tensor([[True] * POSITIONS, [True, True, False, True, False]])


def test_causal_is_aligned_bottom_right() -> None:
    assert causal_mask(2, 5).int().tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert causal_mask(3, 2).int().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert causal_mask(1, 4).all()


@every_case
@need_weights
def test_causal_is_its_explicit_mask(case: Case, need_weights: bool) -> None:
    attention = case.make()
    for queries, positions in ((5, 5), (2, 5), (5, 2)):
        allowed = causal_mask(queries, positions)
        q, k, v = case.inputs(positions=positions, queries=queries)
        same = {"positions": last_places(queries, positions)}
        for key_mask in (None, KEY_MASK[:, :positions]):
            same["key_mask"] = key_mask
            found = attention(q, k, v, **same, causal=True, need_weights=need_weights)
            expected = attention(q, k, v, **same, mask=allowed, need_weights=True)
            assert torch.allclose(found.context, expected.context, atol=1e-5)
            if need_weights:
                assert (found.weights.masked_select(~allowed) == 0).all()
                assert torch.allclose(found.weights, expected.weights, atol=1e-6)


@every_case
@need_weights
def test_causal_alone_is_not_everything(case: Case, need_weights: bool) -> None:
    """The first query sees one position of four (a hard one may choose that one anyway), the last
    all of them (with coverage it remembers another past).
    """
    attention = case.make()
    q, k, v = case.inputs(positions=4, queries=4)
    one = attention(q, k, v, causal=True, need_weights=need_weights).context
    other = attention(q, k, v, need_weights=need_weights).context
    if not case.hard:
        assert (one[:, 0] - other[:, 0]).abs().max() > 1e-3
    if not case.covers:
        assert torch.allclose(one[:, -1], other[:, -1], atol=1e-5)


@pytest.mark.parametrize(("queries", "positions"), [(4, 4), (2, 5), (5, 2), (1, 3)])
@only(placed=True)
def test_causal_queries_stand_at_the_last_places(case: Case, queries: int, positions: int) -> None:
    """Those before all keys too, when there are more queries than keys."""
    attention = case.make()
    q, k, v = case.inputs(positions=positions, queries=queries)
    found = attention(q, k, v, causal=True, need_weights=True)
    given = last_places(queries, positions)
    expected = attention(q, k, v, causal=True, positions=given, need_weights=True)
    assert torch.equal(found.context, expected.context)
    assert torch.equal(found.weights, expected.weights)


@every_case
@need_weights
def test_masks_are_joined(case: Case, need_weights: bool) -> None:
    """mask, key_mask and causal together are their AND, whatever the mask's shape."""
    attention = case.make()
    q, k, v = case.inputs()
    heads = attention.heads
    same = {"positions": last_places(QUERIES, POSITIONS)}
    shapes = [
        (POSITIONS,),
        (QUERIES, POSITIONS),
        (heads, 1, POSITIONS),
        (BATCH, 1, QUERIES, POSITIONS),
        (1, heads, 1, POSITIONS),
        (BATCH, 1, 1, 1),
    ]
    for shape, causal in zip(shapes, itertools.cycle([False, True]), strict=False):
        mask = random_mask(*shape)
        joined = mask.expand(BATCH, heads, QUERIES, POSITIONS) & KEY_MASK[:, None, None]
        if causal:
            joined = joined & causal_mask(QUERIES, POSITIONS)
        masks = {"mask": mask, "key_mask": KEY_MASK, "causal": causal}
        found = attention(q, k, v, **masks, **same, need_weights=need_weights)
        # Local attention counts real positions, so it is told of them.
        expected = attention(q, k, v, mask=joined, key_mask=KEY_MASK, **same, need_weights=True)
        assert torch.allclose(found.context, expected.context, atol=1e-5)
        assert (expected.weights[~joined] == 0).all()
        if need_weights:
            assert torch.allclose(found.weights, expected.weights, atol=1e-6)


@every_case
@need_weights
@pytest.mark.parametrize("by", ["key_mask", "mask"])
def test_nothing_to_attend_to(case: Case, need_weights: bool, by: str) -> None:
    """Context 0 before the output projection, weights 0, gradients finite, the same either way.

    Hard attention gives the scores no gradient at all, and draws where it is trained.
    """
    attention = case.make().train(not case.hard)
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
    for tensor in (v,) if case.hard else (v, q, k):
        if tensor is k and case.options["score"] == "location":
            assert k.grad is None  # keys are not compared
            continue
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


@every_case
def test_junk_under_key_mask_never_leaks(case: Case) -> None:
    """Bitwise: contexts, weights and gradients are as if zeros stood there."""
    attention = case.make()
    q, k, v = case.inputs()
    results = []
    for fill in (0.0, torch.nan, torch.inf, -torch.inf, 1e30):
        hidden = ~KEY_MASK[..., None]
        inputs = [q, k.masked_fill(hidden, fill), v.masked_fill(hidden, fill)]
        inputs = [tensor.clone().requires_grad_() for tensor in inputs]
        attention.zero_grad()
        found = []
        for wanted in (False, True):
            context, weights = attention(*inputs, key_mask=KEY_MASK, need_weights=wanted)
            context.square().sum().backward()
            found += [context] + ([weights] if wanted else [])
        found += [tensor.grad for tensor in inputs if tensor.grad is not None]
        found += gradients(attention)
        results.append(found)
    assert len(results[0]) >= 4
    for dirty in results[1:]:
        for one, other in zip(results[0], dirty, strict=True):
            assert other.isfinite().all()
            assert torch.equal(one, other)


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


@only(softmax=True)
def test_bias_is_added_to_scores(case: Case) -> None:
    """A bias of log w multiplies what the softmax sees by w; its gradient flows.

    Other selections, local-p's factor and coverage make something else of the sum.
    """
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


@every_case
@need_weights
def test_a_bias_of_minus_infinity_hides(case: Case, need_weights: bool) -> None:
    """As its mask would, a whole row too; what is hidden gets no gradient."""
    attention = case.make()
    q, k, v = case.inputs()
    allowed = random_mask(QUERIES, POSITIONS)
    allowed[1] = False
    number = torch.randn(QUERIES, POSITIONS)
    bias = number.masked_fill(~allowed, -torch.inf).requires_grad_()
    found = attention(q, k, v, bias=bias, need_weights=need_weights)
    expected = attention(q, k, v, bias=number, mask=allowed, need_weights=True)
    assert torch.allclose(found.context, expected.context, atol=1e-6)
    if need_weights:
        assert torch.allclose(found.weights, expected.weights, atol=1e-6)
    if not case.hard:
        found.context.square().sum().backward()
        assert bias.grad is not None and bias.grad.isfinite().all()
        assert (bias.grad[~allowed] == 0).all()


@need_weights
def test_masks_and_biases_must_fit(need_weights: bool) -> None:
    """A mask of another size is named, and never spread over more than there is."""
    attention = Attention(6, heads=2)
    x = torch.randn(1, 4, 6)
    for shape in ((4, 5), (2, 4), (3, 1, 1, 1), (1, 1, 1, 4, 4), (3, 4, 4)):
        mask = torch.ones(shape, dtype=torch.bool)
        said = r"does not broadcast to the weights: .* = \[1, 2, 4, 4\]"
        with pytest.raises(ValueError, match=f"mask of .* {said}"):
            attention(x, mask=mask, need_weights=need_weights)
        with pytest.raises(ValueError, match=f"bias of .* {said}"):
            attention(x, bias=mask.float(), need_weights=need_weights)
    for dtype in (torch.bool, torch.int64):
        with pytest.raises(TypeError, match="bias must be real numbers to add to the scores"):
            attention(x, bias=torch.ones(4, 4, dtype=dtype), need_weights=need_weights)
    covering = Attention(6, score="additive", coverage=True)
    for shape in ((1, 4), (1, 2, 4), (1, 1, 3)):
        with pytest.raises(ValueError, match=r"coverage of .* positions\] = \[1, 1, 4\]"):
            covering(x, coverage=torch.zeros(shape), need_weights=need_weights)
    with pytest.raises(ValueError, match="made with coverage=True"):
        attention(x, coverage=torch.zeros(1, 2, 4), need_weights=need_weights)


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
