"""What is known to go wrong in attention layers elsewhere, as checks: masks and dropout.

Each check is named after what goes wrong, and runs over every kind of attention that it could go
wrong in. ``test_known_faults_numbers.py`` has overflow, first values and equations,
``test_known_faults_places.py`` positions, caches, sizes and state. In other rooms are:

- A beam's rows reordered wrongly, or only in part: ``tests/search/test_beam.py``,
  ``tests/models/test_state_rows.py`` (a memory's own rows: ``test_known_faults_places.py``).
- Tied embeddings that come apart or start wrong: ``tests/models/test_model_parameters.py``,
  ``tests/training/test_run.py``.
- Label smoothing over padding or in half precision: ``tests/training/test_loss.py``.
- The first state of Bahdanau's decoder from the wrong end: ``tests/equations``.
- Graphs that cannot be compiled, exported, or that freeze a length: ``test_attention_compiled.py``.
- Halting and the layer norm of the Universal Transformer: nothing halts here yet.
"""

import copy
import warnings

import pytest
import torch
from torch import Tensor

from regard.attention import causal_mask

from .cases import (
    BATCH,
    POSITIONS,
    QUERIES,
    Case,
    every_case,
    every_placed_self,
    every_self,
    gradients,
    last_places,
    make_self,
    need_weights,
    only,
    random_mask,
)

MASK = random_mask(QUERIES, POSITIONS)
KEY_MASK = random_mask(BATCH, POSITIONS)
SECOND_HIDDEN = torch.tensor([[True], [False]]).expand(BATCH, POSITIONS)


@every_case
def test_a_row_of_padding_spoils_every_gradient(case: Case) -> None:
    """pytorch#41508: with a loss on the other row, as if the padded one were not there."""
    attention = case.make()
    q, k, v = (tensor.requires_grad_() for tensor in case.inputs())
    for wanted in (False, True):
        attention.zero_grad()
        attention(q, k, v, key_mask=SECOND_HIDDEN, need_weights=wanted).context[0].sum().backward()
        found = gradients(attention)
        attention.zero_grad()
        attention(q[:1], k[:1], v[:1], need_weights=wanted).context.sum().backward()
        for one, other in zip(found, gradients(attention), strict=True):
            assert one.isfinite().all()
            assert torch.allclose(one, other, atol=1e-5)


@every_case
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_hidden_row_is_not_zero(case: Case, dtype: torch.dtype) -> None:
    """pytorch#103749, and for the numbers that stand for minus infinity, #109517 and fairseq#3575:
    nothing to attend to is a context of 0 and weights of 0 in every type.
    """
    attention = case.make().to(dtype)
    attention.output_projection = None
    context, weights = attention(*case.inputs(dtype), key_mask=SECOND_HIDDEN, need_weights=True)
    fused = attention(*case.inputs(dtype), key_mask=SECOND_HIDDEN).context
    assert (context[1] == 0).all() and (fused[1] == 0).all() and (weights[1] == 0).all()
    assert context.isfinite().all() and fused.isfinite().all()


@only(hard=False)
def test_the_answer_depends_on_the_mode(case: Case) -> None:
    """pytorch#160064: with or without weights, in training without dropout, evaluation, no_grad.
    (Hard attention draws in training.)
    """
    attention = case.make()
    inputs = case.inputs()
    masks = {"key_mask": SECOND_HIDDEN, "mask": MASK}
    expected = attention(*inputs, **masks).context
    for training in (False, True):
        attention.train(training)
        for wanted in (False, True):
            assert torch.allclose(
                attention(*inputs, **masks, need_weights=wanted).context, expected, atol=1e-6
            )
            with torch.no_grad():
                found = attention(*inputs, **masks, need_weights=wanted).context
            assert torch.allclose(found, expected, atol=1e-6)


@every_self
@need_weights
def test_padding_hides_queries_too(options: dict, need_weights: bool) -> None:
    """pytorch#63271: mask and key mask together hide keys only; a padded query still answers."""
    attention = make_self(options)
    x = torch.randn(2, 4, 6)
    mask = random_mask(2, attention.heads, 4, 4)
    mask[..., 0] = True
    key_mask = torch.tensor([[True] * 4, [True, True, False, False]])
    found = attention(x, mask=mask, key_mask=key_mask, need_weights=need_weights)
    joined = attention(x, mask=mask & key_mask[:, None, None], need_weights=True)
    assert torch.allclose(found.context, joined.context, atol=1e-6)
    assert (joined.weights.sum(-1) > 0.99).all()


@every_case
def test_what_padding_holds_is_seen(case: Case) -> None:
    """pytorch#101967: NaN, infinity or 1e30 in hidden keys and values change no bit."""
    attention = case.make()
    q, k, v = case.inputs()
    hidden = ~KEY_MASK[..., None]
    for wanted in (False, True):
        clean = attention(q, k, v, key_mask=KEY_MASK, need_weights=wanted)
        for junk in (torch.nan, torch.inf, -torch.inf, 1e30):
            dirty = [tensor.masked_fill(hidden, junk) for tensor in (k, v)]
            found = attention(q, *dirty, key_mask=KEY_MASK, need_weights=wanted)
            assert torch.equal(found.context, clean.context)
            assert not wanted or torch.equal(found.weights, clean.weights)


@every_placed_self
@need_weights
def test_the_mask_is_upside_down(options: dict, need_weights: bool) -> None:
    """LLMs-from-scratch#1061, x-transformers#160: True hides, or a position sees only the future;
    on one path only. By gradients: what is hidden has none, the past has some.
    """
    attention = make_self(options).double()
    x = torch.randn(1, 4, 6, dtype=torch.float64)

    def reached(**masks: object) -> Tensor:
        values = x.clone().requires_grad_()
        context = attention(x, x.clone(), values, **masks, need_weights=need_weights).context
        rows = [torch.autograd.grad(row.sum(), values, retain_graph=True)[0] for row in context[0]]
        return torch.stack(rows)[:, 0].abs().sum(-1) > 0

    sparse = options.keys() & {"select", "window", "local"}
    for masks, allowed in (
        ({"causal": True}, causal_mask(4, 4)),
        ({"mask": causal_mask(4, 4)}, causal_mask(4, 4)),
        ({"mask": random_mask(4, 4)}, random_mask(4, 4)),
    ):
        seen = reached(**masks)
        assert not (seen & ~allowed).any()
        if sparse:
            assert seen.any(-1)[0]
        else:
            assert torch.equal(seen, allowed)


@every_case
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_a_mask_of_numbers_is_taken_for_something(case: Case, dtype: torch.dtype) -> None:
    """pytorch#92554: it is refused, by every call that takes one."""
    attention = case.make()
    q, k, v = case.inputs()
    for calling in (attention, attention.sample):
        with pytest.raises(TypeError, match="mask must be boolean"):
            calling(q, k, v, mask=torch.ones(QUERIES, POSITIONS, dtype=dtype))
        with pytest.raises(TypeError, match="key_mask must be boolean"):
            calling(q, k, v, key_mask=torch.ones(BATCH, POSITIONS, dtype=dtype))
    with pytest.raises(TypeError, match="key_mask must be boolean"):
        attention.prepare(k, v, torch.ones(BATCH, POSITIONS, dtype=dtype))


@every_case
def test_right_masks_are_warned_of(case: Case) -> None:
    """pytorch#95702: no call, and no gradient, says anything."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        attention = case.make(dropout=0.1).train()
        q, k, v = (tensor.requires_grad_() for tensor in case.inputs())
        for wanted in (False, True):
            context = attention(
                q, k, v, mask=MASK, key_mask=KEY_MASK, causal=True, need_weights=wanted
            ).context
            context.sum().backward()
        attention.sample(q, attention.prepare(k, v, KEY_MASK), mask=MASK).context.sum().backward()
        copy.deepcopy(attention).load_state_dict(attention.state_dict())


@every_case
def test_causal_is_aligned_to_the_first_position(case: Case) -> None:
    """pytorch#108108: two queries at the end of five positions; the last one sees them all."""
    attention = case.make().double()
    q, k, v = case.inputs(torch.float64, queries=2)
    values = v.requires_grad_()
    context, weights = attention(q, k, values, causal=True, need_weights=True)
    assert (weights[:, :, 0, 4] == 0).all()
    fused = attention(q, k, values, causal=True).context
    for found in (context, fused):
        for i, unseen in ((0, [4]), (1, [])):
            (slope,) = torch.autograd.grad(found[:, i].sum(), values, retain_graph=True)
            assert (slope[:, unseen] == 0).all()
    hides = case.options.keys() & {"window", "local", "select"}
    assert hides or torch.equal((weights > 0)[0, 0], causal_mask(2, 5))


@every_case
@need_weights
def test_dropout_lives_on_in_evaluation(case: Case, need_weights: bool) -> None:
    """pytorch#124464, timm#1978: evaluation is bitwise the same twice, and without dropout."""
    attention = case.make(dropout=0.9)
    inputs = case.inputs()
    one, other = (attention(*inputs, need_weights=need_weights).context for _ in range(2))
    attention.dropout = 0.0
    assert torch.equal(one, other)
    assert torch.equal(one, attention(*inputs, need_weights=need_weights).context)


@only(normalized=True)
def test_returned_weights_are_after_dropout(case: Case) -> None:
    """pytorch#42929: in training too, each row sums to 1 (to less with local-p)."""
    attention = case.make(dropout=0.5).train()
    weights = attention(*case.inputs(), key_mask=KEY_MASK, need_weights=True).weights
    assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-5)


@every_case
def test_weights_are_averaged_over_heads(case: Case) -> None:
    """pytorch#34537: one matrix a head, of all queries, though keys may be shared."""
    attention = case.make()
    weights = attention(*case.inputs(), need_weights=True).weights
    assert weights.shape == (BATCH, attention.heads, QUERIES, POSITIONS)
    if attention.heads > 1 and case.options["score"] != "location":
        assert (weights[:, 0] - weights[:, 1]).abs().max() > 1e-4


@every_case
def test_causal_is_a_hint(case: Case) -> None:
    """pytorch#99282, xformers#103, x-transformers' attend.py: causal counts alone, beside a mask
    of padding, and in each call for itself.
    """
    attention = case.make()
    q, k, v = case.inputs()
    same = {"positions": last_places(QUERIES, POSITIONS)}
    allowed = causal_mask(QUERIES, POSITIONS)
    whole = attention(q, k, v, **same, need_weights=True)
    for key_mask in (None, KEY_MASK):
        for wanted in (False, True):
            hidden = {**same, "key_mask": key_mask, "need_weights": wanted}
            causal = attention(q, k, v, causal=True, **hidden)
            explicit = attention(q, k, v, mask=allowed, **hidden)
            assert torch.allclose(causal.context, explicit.context, atol=1e-6)
            if key_mask is None:
                after = attention(q, k, v, causal=False, **hidden)
                assert torch.allclose(after.context, whole.context, atol=1e-6)
    if not case.hard:
        assert (attention(q, k, v, causal=True).context - whole.context)[:, 0].abs().max() > 1e-4


@every_self
def test_evaluation_cuts_or_changes_padded_rows(options: dict) -> None:
    """pytorch#86120, #97111: same length and same rows as in training; a column that is padding in
    every row stays.
    """
    attention = make_self(options)
    x = torch.randn(2, 5, 6)
    key_mask = torch.arange(5)[None] < torch.tensor([[4], [2]])
    with torch.no_grad():
        evaluated = attention(x, key_mask=key_mask).context
    trained = attention.train()(x, key_mask=key_mask).context
    assert evaluated.shape == trained.shape == (2, 5, attention.context_size)
    assert torch.allclose(evaluated, trained, atol=1e-6)
