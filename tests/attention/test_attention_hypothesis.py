"""Properties of every kind of attention over any shapes, masks and types."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Attended, Memory, causal_mask

from .cases import Case, gradients, last_places, need_weights
from .strategies import Setting, attentions, options, thorough

HALVES = (torch.float16, torch.bfloat16)
every_type = attentions(dtypes=(torch.float32, torch.float64, *HALVES))


@given(every_type)
@thorough
def test_with_and_without_weights_are_one(setting: Setting) -> None:
    """Contexts, and gradients of inputs and parameters."""
    attention = setting.make()
    tensors = setting.inputs()
    masks = {"mask": setting.mask(attention.heads), "key_mask": setting.key_mask()}
    found = []
    for wanted in (False, True):
        inputs = [tensor.clone().requires_grad_() for tensor in tensors]
        attention.zero_grad()
        context, weights = attention(*inputs, **masks, need_weights=wanted)
        assert context.dtype == setting.dtype and context.isfinite().all()
        assert (weights is not None) == wanted
        context.square().sum().backward()
        reached = [tensor.grad for tensor in inputs if tensor.grad is not None]
        found.append([context, *reached, *gradients(attention)])
    for one, other in zip(*found, strict=True):
        size = max(1.0, other.abs().max().item() if other.numel() else 0.0)
        assert (one - other).abs().max() <= 20 * setting.limit * size


@given(attentions(), st.booleans(), st.booleans())
@thorough
def test_masks_are_their_and(setting: Setting, causal: bool, wanted: bool) -> None:
    """mask, key_mask and causal together, against one mask given as a whole.

    (Local attention counts what is real, so it keeps its key mask.)
    """
    attention = setting.make()
    q, k, v = setting.inputs()
    queries, positions = setting.queries, setting.positions
    mask, key_mask = setting.mask(attention.heads), setting.key_mask()
    joined = mask & key_mask[:, None, None]
    if causal:
        joined = joined & causal_mask(queries, positions)
    places = last_places(queries, positions)
    kept = key_mask if attention.local is not None else None
    found = attention(
        q, k, v, mask=mask, key_mask=key_mask, causal=causal, positions=places, need_weights=wanted
    )
    expected = attention(q, k, v, mask=joined, key_mask=kept, positions=places, need_weights=True)
    assert torch.allclose(found.context, expected.context, atol=setting.limit)
    assert (expected.weights[~joined.expand_as(expected.weights)] == 0).all()
    if wanted:
        assert torch.allclose(found.weights, expected.weights, atol=setting.limit)


@need_weights
@given(setting=every_type)
@thorough
def test_nothing_to_attend_to(setting: Setting, need_weights: bool) -> None:
    """Weights 0 and context 0, gradients finite, whichever mask hides a whole row."""
    attention = setting.make()
    attention.output_projection = None
    q, k, v = (tensor.requires_grad_() for tensor in setting.inputs())
    key_mask = setting.key_mask()
    key_mask[0] = False
    mask = setting.mask(attention.heads).expand(
        setting.batch, attention.heads, setting.queries, setting.positions
    )
    mask = mask & (torch.arange(setting.queries) != 0)[:, None]
    context, weights = attention(q, k, v, key_mask=key_mask, mask=mask, need_weights=need_weights)
    assert (context[0] == 0).all() and (context[:, 0] == 0).all()
    if weights is not None:
        assert (weights[0] == 0).all() and (weights[:, :, 0] == 0).all()
    context.square().sum().backward()
    for tensor in (q, k, v):
        if tensor.grad is not None:
            assert tensor.grad.isfinite().all()
            assert (tensor.grad[0] == 0).all()
    assert all(gradient.isfinite().all() for gradient in gradients(attention))


@given(every_type, st.sampled_from([torch.nan, torch.inf, -torch.inf, 6e4]), st.booleans())
@thorough
def test_junk_under_the_key_mask_leaks_nowhere(setting: Setting, junk: float, ahead: bool) -> None:
    """Bitwise: contexts, weights, gradients; prepared ahead or not."""
    attention = setting.make()
    tensors = setting.inputs()
    key_mask = setting.key_mask()
    results = []
    for fill in (0.0, junk):
        hidden = ~key_mask[..., None]
        q, k, v = (
            tensor.clone().requires_grad_()
            for tensor in (tensors[0], *(t.masked_fill(hidden, fill) for t in tensors[1:]))
        )
        attention.zero_grad()
        found: list[Tensor] = []
        for wanted in (False, True):
            if ahead:
                context, weights = attention(
                    q, attention.prepare(Memory(k, v, key_mask)), need_weights=wanted
                )
            else:
                context, weights = attention(q, k, v, key_mask=key_mask, need_weights=wanted)
            context.square().sum().backward()
            found += [context] if weights is None else [context, weights]
        found += [tensor.grad for tensor in (q, k, v) if tensor.grad is not None]
        results.append(found + gradients(attention))
    for clean, dirty in zip(*results, strict=True):
        assert dirty.isfinite().all()
        assert torch.equal(clean, dirty)


@given(every_type)
@thorough
def test_evaluation_is_bitwise_repeatable(setting: Setting) -> None:
    attention = setting.make(dropout=0.9)
    inputs, key_mask = setting.inputs(), setting.key_mask()

    def attended(wanted: bool) -> Attended:
        found: Attended = attention(*inputs, key_mask=key_mask, need_weights=wanted)
        return found

    for wanted in (False, True):
        one, other = attended(wanted), attended(wanted)
        assert torch.equal(one.context, other.context)
        assert not wanted or torch.equal(one.weights, other.weights)


@given(every_type)
@thorough
def test_rows_sum_to_one_before_dropout(setting: Setting) -> None:
    """Or to 0 where nothing may be attended to; never to more, with local-p."""
    attention = setting.make(dropout=0.5).train()
    q, k, v = setting.inputs()
    mask, key_mask = setting.mask(attention.heads), setting.key_mask()
    weights = attention(q, k, v, mask=mask, key_mask=key_mask, need_weights=True).weights
    assert weights.shape == (setting.batch, attention.heads, setting.queries, setting.positions)
    assert (weights >= 0).all()
    sums = weights.double().sum(-1)
    limit = max(1e-5, 4 * torch.finfo(setting.dtype).eps)
    assert (sums < 1 + limit).all()
    visible = (weights > 0).any(-1)
    if setting.case.normalized:
        assert (sums[visible] - 1).abs().max().item() < limit if visible.any() else True
    if not setting.case.placed:
        anything = (mask & key_mask[:, None, None]).any(-1).expand_as(visible)
        assert torch.equal(visible, anything)


def test_every_kind_is_drawn() -> None:
    """The strategy makes whatever an attention can be made of."""
    kinds: set[str] = set()

    @given(options())
    @settings(thorough, max_examples=300)
    def look(case: Case) -> None:
        kinds.update(f"{key} {value}" for key, value in case.options.items())

    look()
    scores = ("dot", "scaled_dot", "general", "additive", "concat", "location")
    assert {f"score {score}" for score in scores} <= kinds
    assert {"select hard", "select sparsemax", "select entmax", "key_heads 2"} <= kinds
    assert {"local monotonic", "local predictive", "window (2, 1)", "project False"} <= kinds
    assert {f"position_scheme {name}" for name in ("rotary", "alibi", "relative")} <= kinds
    assert {"gate True", "coverage True"} <= kinds
