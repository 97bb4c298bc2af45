"""Order, over any shapes and kinds of attention: what comes later, what is permuted, what comes
step by step.
"""

import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from .cases import need_weights
from .strategies import Setting, attentions, thorough


@need_weights
@given(setting=attentions(oneself=True))
@thorough
def test_nothing_comes_from_later_positions(setting: Setting, need_weights: bool) -> None:
    """B6, by autograd, in training with dropout: the gradient to later positions is exactly 0."""
    attention = setting.make(dropout=0.5).train()
    x = setting.vectors().requires_grad_()
    context = attention(x, causal=True, need_weights=need_weights).context
    for i in range(setting.positions):
        (slope,) = torch.autograd.grad(context[:, i].square().sum(), x, retain_graph=True)
        assert (slope[:, i + 1 :] == 0).all()
        assert slope.isfinite().all()


@given(attentions(content=True), st.booleans())
@thorough
def test_a_memory_is_a_set(setting: Setting, wanted: bool) -> None:
    """B7: for content scores without positions, windows or location."""
    attention = setting.make()
    q, k, v = setting.inputs()
    key_mask = setting.key_mask()
    order = torch.randperm(setting.positions)
    one = attention(q, k, v, key_mask=key_mask, need_weights=wanted)
    other = attention(q, k[:, order], v[:, order], key_mask=key_mask[:, order], need_weights=wanted)
    assert torch.allclose(one.context, other.context, atol=setting.limit)
    if wanted:
        assert torch.allclose(one.weights[..., order], other.weights, atol=setting.limit)


@given(attentions(oneself=True, content=True), st.booleans())
@thorough
def test_self_attention_is_equivariant(setting: Setting, wanted: bool) -> None:
    """B6: likewise; and without coverage, which goes from query to query in their order."""
    assume(not setting.case.covers)
    attention = setting.make()
    x = setting.vectors()
    order = torch.randperm(setting.positions)
    one = attention(x, need_weights=wanted).context
    other = attention(x[:, order], need_weights=wanted).context
    assert torch.allclose(one[:, order], other, atol=setting.limit)


@given(attentions(oneself=True), st.data())
@thorough
def test_step_by_step_is_all_at_once(setting: Setting, data: st.DataObject) -> None:
    """Blocks of any lengths, added by ``extend`` or ``append``, the rows re-indexed between them,
    coverage passed on. (Not local-p: it looks at a share of all the positions there are.)
    """
    assume(setting.case.normalized)
    attention = setting.make()
    x = setting.vectors()
    first = data.draw(st.integers(0, 9), label="first place")
    whole = attention(x, attention.prepare(x, start=first), causal=True, need_weights=True)
    rows = torch.arange(setting.batch)
    cache = attention.prepare(x[:, :0], start=first)
    coverage, done = None, 0
    while done < setting.positions:
        end = data.draw(st.integers(done + 1, setting.positions), label="end of block")
        block = x[rows, done:end]
        if data.draw(st.booleans(), label="append"):
            cache = cache.append(attention.prepare(block, start=first + done))
        else:
            cache = attention.extend(cache, block)
        if attention.covers:
            more = torch.zeros(setting.batch, attention.heads, end - done, dtype=x.dtype)
            coverage = more if coverage is None else torch.cat([coverage, more], dim=-1)
        step = attention(block, cache, causal=True, coverage=coverage, need_weights=True)
        assert torch.allclose(step.context, whole.context[rows, done:end], atol=setting.limit)
        expected = whole.weights[rows, :, done:end, :end]
        assert torch.allclose(step.weights, expected, atol=setting.limit)
        fused = attention(block, cache, causal=True, coverage=coverage).context
        assert torch.allclose(fused, step.context, atol=setting.limit)
        chosen = torch.randint(0, setting.batch, (setting.batch,))
        cache, rows, done = cache.select(chosen), rows[chosen], end
        if coverage is not None:
            coverage = (coverage + step.weights.sum(2))[chosen]
