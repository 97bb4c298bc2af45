"""B3, B6, B7: what holds for every score, whatever its parameters."""

import pytest
import torch

from regard.attention import Attention

from .cases import BATCH, POSITIONS, Case, every_case, need_weights, random_mask

SELF = [
    {"score": "scaled_dot", "heads": 2},
    {"score": "dot"},
    {"score": "general"},
    {"score": "additive", "hidden_size": 5},
    {"score": "concat", "heads": 2, "project": True, "hidden_size": 4},
]
every_self = pytest.mark.parametrize("options", SELF, ids=[str(o["score"]) for o in SELF])


@every_case
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


@every_case
def test_queries_do_not_see_each_other(case: Case) -> None:
    """B3: many queries are each query alone."""
    attention = case.make().double()
    q, k, v = case.inputs(torch.float64)
    whole = attention(q, k, v, need_weights=True)
    for i in range(q.shape[1]):
        one = attention(q[:, i : i + 1], k, v, need_weights=True)
        assert torch.allclose(one.context[:, 0], whole.context[:, i], atol=1e-12)
        assert torch.allclose(one.weights[:, :, 0], whole.weights[:, :, i], atol=1e-12)


@every_case
def test_context_is_the_expectation(case: Case) -> None:
    """B3: c = sum_j a_j x_j with weights that are a distribution, whatever the score."""
    attention = case.make().double()
    attention.value_projection = attention.output_projection = None
    q, k, v = case.inputs(torch.float64)
    if v.shape[-1] % attention.heads:
        v = v[..., :-1]
        attention.value_size = v.shape[-1]
    context, weights = attention(q, k, v, need_weights=True)
    assert (weights >= 0).all()
    assert torch.allclose(weights.sum(-1), torch.ones(()).double(), atol=1e-12)
    parts = v.unflatten(-1, (attention.heads, -1))
    expected = torch.einsum("bhqk,bkhd->bqhd", weights, parts).flatten(2)
    assert torch.allclose(context, expected, atol=1e-12)


@every_self
@need_weights
def test_self_attention_is_equivariant(options: dict, need_weights: bool) -> None:
    """B6: without positions, permuted inputs give permuted outputs."""
    attention = Attention(6, **options).double()
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    order = torch.tensor([3, 0, 4, 2, 1])
    one = attention(x, need_weights=need_weights).context
    other = attention(x[:, order], need_weights=need_weights).context
    assert torch.allclose(one[:, order], other, atol=1e-12)
    assert (one - other).abs().max() > 1e-3


@every_self
@need_weights
@pytest.mark.parametrize("causal", [True, False])
def test_no_influence_from_later_positions(options: dict, need_weights: bool, causal: bool) -> None:
    """B6, by autograd: d output_i / d x_j = 0 exactly for j > i, and nowhere without the mask."""
    attention = Attention(6, **options).double()
    x = torch.randn(1, 5, 6, dtype=torch.float64)

    def outputs(inputs: torch.Tensor) -> torch.Tensor:
        context: torch.Tensor = attention(inputs, causal=causal, need_weights=need_weights).context
        return context

    influence = torch.autograd.functional.jacobian(outputs, x)[0, :, :, 0].abs().sum((1, 3))
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    assert (influence[~later] > 0).all()
    assert (influence[later] == 0).all() if causal else (influence[later] > 0).all()


@every_self
def test_keys_default_to_the_query_and_values_to_keys(options: dict) -> None:
    attention = Attention(6, **options)
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
