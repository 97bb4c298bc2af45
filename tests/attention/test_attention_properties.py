"""B3, B6, B7: what holds for every kind of attention, whatever its parameters; and where it does
not hold, by which definition.
"""

import pytest
import torch

from regard.attention import Attention

from .cases import (
    BATCH,
    POSITIONS,
    Case,
    every_case,
    every_placed_self,
    every_self,
    make_self,
    need_weights,
    only,
    random_mask,
)


@only(content=True)
@need_weights
def test_a_memory_is_a_set(case: Case, need_weights: bool) -> None:
    """B7: permuting the memory permutes the weights and leaves the context as it was."""
    attention = case.make().double()
    q, k, v = case.inputs(torch.float64)
    key_mask = random_mask(BATCH, POSITIONS)
    order = torch.randperm(POSITIONS)
    one = attention(q, k, v, key_mask=key_mask, need_weights=need_weights)
    other = attention(
        q, k[:, order], v[:, order], key_mask=key_mask[:, order], need_weights=need_weights
    )
    assert torch.allclose(one.context, other.context, atol=1e-12)
    if need_weights:
        assert torch.allclose(one.weights[..., order], other.weights, atol=1e-12)


@only(content=False)
def test_a_memory_with_places_is_not_a_set(case: Case) -> None:
    """B7 is of content scores: location scores, windows and position schemes see the order."""
    attention = case.make().double()
    q, k, v = case.inputs(torch.float64)
    order = torch.tensor([4, 2, 0, 1, 3])
    one = attention(q, k, v, need_weights=True)
    other = attention(q, k[:, order], v[:, order], need_weights=True)
    assert (one.weights[..., order] - other.weights).abs().max() > 1e-3
    assert (one.context - other.context).abs().max() > 1e-4


@only(covers=False)
def test_queries_do_not_see_each_other(case: Case) -> None:
    """B3: many queries are each query alone, told where it stands. (With coverage each sees what
    those before it attended to.)
    """
    attention = case.make().double()
    q, k, v = case.inputs(torch.float64)
    whole = attention(q, k, v, need_weights=True)
    for i in range(q.shape[1]):
        place = torch.tensor([i])
        one = attention(q[:, i : i + 1], k, v, positions=place, need_weights=True)
        assert torch.allclose(one.context[:, 0], whole.context[:, i], atol=1e-12)
        assert torch.allclose(one.weights[:, :, 0], whole.weights[:, :, i], atol=1e-12)


@every_case
def test_context_is_the_expectation(case: Case) -> None:
    """B3: c = sum_j a_j x_j with weights that are a distribution, whatever the score; times the
    gate, if there is one. Hard attention takes the x_j of the greatest weight.
    """
    attention = case.make().double()
    attention.value_projection = attention.output_projection = None
    q, k, v = case.inputs(torch.float64)
    v = v[..., : v.shape[-1] // attention.key_heads * attention.key_heads]
    attention.value_size = v.shape[-1]
    context, weights = attention(q, k, v, need_weights=True)
    assert (weights >= 0).all()
    if case.normalized:
        assert torch.allclose(weights.sum(-1), torch.ones(()).double(), atol=1e-12)
    if case.hard:
        weights = (weights == weights.amax(-1, keepdim=True)).double()
    parts = v.unflatten(-1, (attention.key_heads, -1))
    parts = parts.repeat_interleave(attention.heads // attention.key_heads, dim=2)
    expected = torch.einsum("bhqk,bkhd->bqhd", weights, parts).flatten(2)
    if attention.gate is not None:
        expected = expected * attention.gate.f_beta(q).sigmoid()
    assert torch.allclose(context, expected, atol=1e-12)


def test_local_predictive_weights_do_not_sum_to_one() -> None:
    """Luong et al. 2015, eq. 10: the Gaussian multiplies the softmax, and nothing is made of it."""
    attention = Attention(6, local="predictive", local_width=2)
    weights = attention(torch.randn(2, 3, 6), torch.randn(2, 5, 6), need_weights=True).weights
    assert (weights.sum(-1) > 0).all() and (weights.sum(-1) < 1).all()


@pytest.mark.parametrize("select", ["sparsemax", "entmax"])
def test_sparse_weights_are_exactly_zero_somewhere(select: str) -> None:
    attention = Attention(6, score="dot", select=select)
    weights = attention(torch.randn(2, 3, 6), torch.randn(2, 9, 6), need_weights=True).weights
    assert ((weights == 0).sum(-1) > 0).all()
    assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-6)


def test_hard_attention_gives_scores_no_gradient() -> None:
    """Neither drawn nor chosen: what trains its scores is ``sample`` with its log-probability."""
    attention = Attention(6, score="general", select="hard")
    q, k = torch.randn(2, 3, 6), torch.randn(2, 5, 6, requires_grad=True)
    for training in (True, False):
        attention.train(training)(q, k).context.sum().backward()
        assert attention.score.W_a.grad is None and k.grad is not None
    attention.sample(q, k).log_probability.sum().backward()
    assert attention.score.W_a.grad is not None and attention.score.W_a.grad.abs().sum() > 0


@every_self
@need_weights
def test_self_attention_is_equivariant(options: dict, need_weights: bool) -> None:
    """B6: without positions, permuted inputs give permuted outputs."""
    attention = make_self(options).double()
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    order = torch.tensor([3, 0, 4, 2, 1])
    one = attention(x, need_weights=need_weights).context
    other = attention(x[:, order], need_weights=need_weights).context
    assert torch.allclose(one[:, order], other, atol=1e-12)
    assert (one - other).abs().max() > 1e-3


@every_placed_self
@need_weights
@pytest.mark.parametrize("causal", [True, False])
def test_no_influence_from_later_positions(options: dict, need_weights: bool, causal: bool) -> None:
    """B6, by autograd: d output_i / d x_j = 0 exactly for j > i, and nowhere without the mask
    (but where a window or a sparse selection hides it, or a query before it remembers it).
    """
    attention = make_self(options).double()
    x = torch.randn(1, 5, 6, dtype=torch.float64)

    def outputs(inputs: torch.Tensor) -> torch.Tensor:
        context: torch.Tensor = attention(inputs, causal=causal, need_weights=need_weights).context
        return context

    influence = torch.autograd.functional.jacobian(outputs, x)[0, :, :, 0].abs().sum((1, 3))
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    if causal:
        assert (influence[later] == 0).all()
    if not options.keys() & {"window", "local", "select"}:
        assert (influence[~later] > 0).all()
        assert causal or (influence[later] > 0).all()


@every_placed_self
def test_keys_default_to_the_query_and_values_to_keys(options: dict) -> None:
    attention = make_self(options)
    x, memory = torch.randn(2, 5, 6), torch.randn(2, 4, 6)
    assert torch.equal(attention(x).context, attention(x, x, x).context)
    assert torch.equal(attention(x, memory).context, attention(x, memory, memory).context)


@every_case
def test_inputs_are_left_alone(case: Case) -> None:
    attention = case.make().train()
    tensors = [*case.inputs(), random_mask(BATCH, POSITIONS), torch.randn(POSITIONS)]
    copies = [tensor.clone() for tensor in tensors]
    q, k, v, key_mask, bias = tensors
    memory = attention.prepare(k, v, key_mask)
    attention(q, memory, causal=True)
    attention(q, memory, bias=bias, need_weights=True)
    for tensor, copy in zip(tensors, copies, strict=True):
        assert torch.equal(tensor, copy)


def test_dot_products_grow_with_size_and_scaling_keeps_them() -> None:
    """B2: q . k of unit normal vectors has variance d; divided by sqrt(d), 1. Unscaled, the softmax
    saturates and its gradient dies."""
    slopes = {}
    for score in ("dot", "scaled_dot"):
        attention = Attention(1024, score=score)
        q, k = torch.randn(8, 16, 1024), torch.randn(8, 32, 1024)
        logits = attention.score(q[:, None], k[:, None])
        assert logits.var().item() == pytest.approx(1024 if score == "dot" else 1, rel=0.1)
        weights = attention(q, k, need_weights=True).weights
        slopes[score] = (weights * (1 - weights)).mean().item()  # d weight_j / d logit_j
    assert slopes["dot"] < slopes["scaled_dot"] / 10
