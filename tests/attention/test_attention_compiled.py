"""Under torch.compile and torch.export: one graph for every kind, the same numbers, any length."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Attention

from .cases import make_self, name

pytestmark = pytest.mark.slow

KINDS: list[dict[str, Any]] = [
    {"score": "scaled_dot", "heads": 2},
    {"score": "general"},
    {"score": "additive", "heads": 2, "gate": True},
    {"score": "location", "heads": 2, "maximum_positions": 64},
    {"score": "scaled_dot", "heads": 4, "key_heads": 2},
    {"score": "general", "select": "hard"},
    {"score": "scaled_dot", "heads": 2, "select": "sparsemax"},
    {"score": "additive", "select": "entmax"},
    {"score": "scaled_dot", "heads": 2, "position_scheme": "rotary"},
    {"score": "dot", "heads": 2, "position_scheme": "alibi"},
    {"score": "general", "heads": 2, "position_scheme": "relative"},
    {"score": "scaled_dot", "window": (2, 1)},
    {"score": "general", "local": "monotonic", "local_width": 2},
    {"score": "general", "heads": 2, "local": "predictive", "local_width": 2},
    {
        "score": "scaled_dot",
        "heads": 4,
        "key_heads": 2,
        "position_scheme": "rotary",
        "window": 3,
        "select": "entmax",
        "gate": True,
    },
]
COVERAGE: dict[str, Any] = {"score": "additive", "coverage": True}
kinds = pytest.mark.parametrize("options", KINDS, ids=name)


class Whole(nn.Module):
    """Attention over padded keys without weights; causal self-attention with them."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__()
        self.attention = make_self(options, size=8)

    def forward(self, query: Tensor, key: Tensor, key_mask: Tensor) -> tuple[Tensor, ...]:
        over = self.attention(query, key, key_mask=key_mask).context
        aligned = self.attention(query, key, causal=True).context
        itself = self.attention(query, causal=True).context
        within, weights = self.attention(key, key_mask=key_mask, causal=True, need_weights=True)
        return over, aligned, itself, within, weights


def inputs(queries: int, positions: int) -> tuple[Tensor, Tensor, Tensor]:
    key_mask = torch.arange(positions)[None] < torch.tensor([[positions], [2]])
    return torch.randn(2, queries, 8), torch.randn(2, positions, 8), key_mask


def assert_same(found: tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("options", [*KINDS, COVERAGE], ids=name)
def test_compiled(options: dict[str, Any]) -> None:
    """Forward and backward, at more lengths than one. (Coverage: for as many queries.)"""
    model = Whole(options)
    compiled = torch.compile(model, fullgraph=True, dynamic=True)
    lengths = ((3, 5),) if options is COVERAGE else ((3, 5), (7, 4))
    for queries, positions in lengths:
        given = inputs(queries, positions)
        expected, found = model(*given), compiled(*given)
        assert_same(found, expected)
        parameters = [p for p in model.parameters() if p.requires_grad]
        outward = [torch.randn_like(tensor) for tensor in expected]
        pairs = []
        for results in (found, expected):
            total = sum((out * result).sum() for out, result in zip(outward, results, strict=True))
            pairs.append(torch.autograd.grad(total, parameters, allow_unused=True))
        for one, other in zip(*pairs, strict=True):
            assert (one is None) == (other is None)
            assert one is None or torch.allclose(one, other, atol=1e-4)


@kinds
def test_exported(options: dict[str, Any]) -> None:
    """Any number of queries and positions, from one of each, whatever it was exported with."""
    model = Whole(options).eval()
    queries = torch.export.Dim("queries", min=1, max=64)
    positions = torch.export.Dim("positions", min=1, max=64)
    shapes = ({1: queries}, {1: positions}, {1: positions})
    exported = torch.export.export(model, inputs(3, 5), dynamic_shapes=shapes).module()
    for lengths in ((3, 5), (6, 4), (9, 17), (5, 5)):
        given = inputs(*lengths)
        assert_same(exported(*given), model(*given))


def test_exported_coverage_is_of_so_many_queries() -> None:
    """A decoder has one at a time."""
    attention = make_self(COVERAGE, size=8)

    class Step(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = attention

        def forward(self, query: Tensor, key: Tensor, coverage: Tensor) -> tuple[Tensor, Tensor]:
            context, weights = self.attention(query, key, coverage=coverage, need_weights=True)
            return context, coverage + weights.sum(2)

    def given(positions: int) -> tuple[Tensor, Tensor, Tensor]:
        return torch.randn(2, 1, 8), torch.randn(2, positions, 8), torch.rand(2, 1, positions)

    positions = torch.export.Dim("positions", min=2, max=64)
    shapes = (None, {1: positions}, {2: positions})
    exported = torch.export.export(Step(), given(5), dynamic_shapes=shapes).module()
    for count in (5, 9, 2):
        tensors = given(count)
        assert_same(exported(*tensors), Step()(*tensors))


@pytest.mark.parametrize("options", [KINDS[i] for i in (0, 2, 4, 8)], ids=name)
def test_compiled_step_over_a_growing_cache(options: dict[str, Any]) -> None:
    """One graph, many lengths: the cache is an argument."""
    attention = make_self(options, size=8)
    x = torch.randn(2, 7, 8)
    whole = attention(x, causal=True).context

    @torch.compile(fullgraph=True, dynamic=True)
    def step(query: Tensor, key: Tensor) -> Tensor:
        memory = attention.extend(attention.prepare(key), query)
        context: Tensor = attention(query, memory, causal=True).context
        return context

    with torch.no_grad():
        for i in range(2, 7):
            found = step(x[:, i : i + 1], x[:, :i])
            assert torch.allclose(found[:, 0], whole[:, i], atol=1e-5)


def test_hard_attention_draws_when_it_is_compiled() -> None:
    """Not the same as uncompiled, but by the same weights."""
    attention = Attention(4, score="dot", select="hard").train()
    compiled = torch.compile(attention, fullgraph=True)
    query = torch.tensor([1.0, 0.0, 0.0, 0.0]).expand(4000, 1, 4)
    key = torch.eye(4)[:3].expand(4000, 3, 4)
    share = compiled(query, key).context.mean((0, 1))
    expected = torch.tensor([1.0, 0.0, 0.0]).softmax(0)
    assert torch.allclose(share[:3], expected, atol=0.03)
