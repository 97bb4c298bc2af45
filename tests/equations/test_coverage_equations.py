"""Coverage of See et al. 2017, section 2.3: what was attended to before enters the score."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import Attention

from .attention_layer import assert_gradients, inputs_of, part, random, rows
from .bahdanau import softmax
from .build import assert_close, randomize
from .recurrent import Array, affine, array


def make(*sizes: int, **options: Any) -> Any:
    return randomize(Attention(*sizes, **options)).double().eval()


def covered(attention: Any, s: list[Array], h: list[Array], before: Array) -> Array:
    """See et al. 2017, eq. 10 and 11: alpha [heads, queries, positions].

    e_ij = v . tanh(W_h h_j + W_s s_i + w_c c_ij), c_ij what the steps before i gave to j, and
    before the first of them `before` [heads, positions].
    """
    heads = attention.heads
    v, w_c = array(attention.score.v_a), array(attention.score.w_c)
    alphas = np.zeros((heads, len(s), len(h)))
    for head in range(heads):
        for i in range(len(s)):
            e = []
            for j in range(len(h)):
                c = before[head, j] + sum(alphas[head, earlier, j] for earlier in range(i))
                on_state = part(affine(attention.query_projection, s[i]), head, heads)
                on_source = part(affine(attention.key_projection, h[j]), head, heads)
                e.append(float(v[head] @ np.tanh(on_source + on_state + w_c[head] * c)))
            alphas[head, i] = softmax(np.array(e))
    return alphas


@pytest.mark.parametrize("start", [False, True], ids=["", "begun"])
@pytest.mark.parametrize("score", ["additive", "concat"])
@pytest.mark.parametrize("heads", [1, 2])
def test_coverage(score: str, heads: int, start: bool) -> None:
    """All at once, one step at a time with the coverage passed on, and both at once: the same."""
    attention = make(6, 8, score=score, heads=heads, hidden_size=10, coverage=True, project=False)
    s, h = random(2, 4, 6), random(2, 5, 8, seed=6)
    lengths = [5, 3]
    key_mask = torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    before = random(2, heads, 5, seed=8).abs() * key_mask[:, None]
    begun = {"coverage": before} if start else {}
    context, weights = attention(s, h, key_mask=key_mask, need_weights=True, **begun)
    for b, length in enumerate(lengths):
        earlier = before[b].numpy() if start else np.zeros((heads, 5))
        alphas = covered(attention, rows(s[b]), rows(h[b])[:length], earlier)
        assert_close(weights[b, :, :, :length], alphas)
        assert (weights[b, :, :, length:] == 0).all()
        for i in range(4):
            read = np.zeros(8)
            for j, x in enumerate(rows(h[b])[:length]):
                shares = [alphas[n, i, j] * part(x, n, heads) for n in range(heads)]
                read = read + np.concatenate(shares)
            assert_close(context[b, i], read)
    memory = attention.prepare(h, key_mask=key_mask)
    coverage = before if start else None
    for i in range(0, 4, 2 if start else 1):
        some = slice(i, i + 2) if start else slice(i, i + 1)
        step = attention(s[:, some], memory, coverage=coverage, need_weights=True)
        assert_close(step.context, context[:, some].detach())
        assert_close(step.weights, weights[:, :, some].detach())
        assert_close(
            attention(s[:, some], memory, coverage=coverage).context, context[:, some].detach()
        )
        seen = step.weights.sum(2)
        coverage = seen if coverage is None else coverage + seen


def test_coverage_under_masks_and_bias() -> None:
    """Row i of mask, bias and causality goes with query i; what is hidden is not covered."""
    attention = make(6, 8, score="additive", hidden_size=10, coverage=True)
    s, h = random(1, 4, 6), random(1, 4, 8, seed=6)
    mask, bias = random(1, 1, 4, 4, seed=8) > -0.7, random(1, 1, 4, 4, seed=9)
    mask[0, 0, 2] = False
    mask[0, 0, :, 0] = torch.tensor([True, True, False, True])
    options = {"mask": mask, "bias": bias, "causal": True}
    whole = attention(s, h, need_weights=True, **options).weights
    v, w_c = array(attention.score.v_a)[0], array(attention.score.w_c)[0]
    c = np.zeros(4)
    for i in range(4):
        seen = [j for j in range(i + 1) if mask[0, 0, i, j]]
        e = []
        for j in seen:
            inner = affine(attention.query_projection, s[0, i].numpy())
            inner = inner + affine(attention.key_projection, h[0, j].numpy()) + w_c * c[j]
            e.append(float(v @ np.tanh(inner)) + float(bias[0, 0, i, j]))
        alpha = np.zeros(4)
        if seen:
            alpha[seen] = softmax(np.array(e))
        assert_close(whole[0, 0, i], alpha)
        c += alpha


def test_coverage_is_asked_for() -> None:
    attention = make(6, score="additive")
    s, coverage = random(1, 2, 6), torch.zeros(1, 1, 3)
    with pytest.raises(ValueError, match="coverage=True"):
        attention(s, random(1, 3, 6), coverage=coverage)
    with pytest.raises(ValueError, match="coverage is for additive and concat"):
        Attention(6, score="dot", coverage=True)


def test_gradients_of_coverage() -> None:
    """Also through the coverage that came in, and through that of the steps before."""
    attention = make(4, 3, 2, score="additive", heads=2, hidden_size=4, coverage=True)
    q, k, v = inputs_of((4, 3, 2), queries=3, positions=3)
    key_mask = torch.tensor([[True, True, True], [True, True, False]])
    assert_gradients(attention, (q, k, v), key_mask=key_mask)

    def call(coverage: Tensor) -> tuple[Tensor, Tensor]:
        found = attention(q, k, v, coverage=coverage, key_mask=key_mask, need_weights=True)
        return found.context, found.weights

    coverage = random(2, 2, 3, seed=8).requires_grad_()
    assert torch.autograd.gradcheck(call, (coverage,), atol=1e-7)
