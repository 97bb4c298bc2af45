"""Under torch.compile and torch.export: one graph, the same numbers, any length."""

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Attention

pytestmark = pytest.mark.slow

SCORES = ("scaled_dot", "general", "additive")


class Whole(nn.Module):
    """Self-attention or cross-attention over padded keys."""

    def __init__(self, score: str) -> None:
        super().__init__()
        self.attention = Attention(8, score=score, heads=2)

    def forward(self, query: Tensor, key: Tensor, key_mask: Tensor) -> Tensor:
        context: Tensor = self.attention(query, key, key_mask=key_mask).context
        return context


def inputs(queries: int, positions: int) -> tuple[Tensor, Tensor, Tensor]:
    key_mask = torch.arange(positions)[None] < torch.tensor([[positions], [2]])
    return torch.randn(2, queries, 8), torch.randn(2, positions, 8), key_mask


@pytest.mark.parametrize("score", SCORES)
def test_compiled(score: str) -> None:
    model = Whole(score)
    compiled = torch.compile(model, fullgraph=True, dynamic=True)
    for lengths in ((3, 5), (4, 7)):
        given = inputs(*lengths)
        expected = model(*given)
        found = compiled(*given)
        assert torch.allclose(found, expected, atol=1e-5)
        outward = torch.randn_like(expected)
        one = torch.autograd.grad(found, list(model.parameters()), outward)
        other = torch.autograd.grad(expected, list(model.parameters()), outward)
        for a, b in zip(one, other, strict=True):
            assert torch.allclose(a, b, atol=1e-4)


@pytest.mark.parametrize("score", SCORES)
def test_exported(score: str) -> None:
    model = Whole(score).eval()
    queries = torch.export.Dim("queries", min=2, max=64)
    positions = torch.export.Dim("positions", min=2, max=64)
    shapes = ({1: queries}, {1: positions}, {1: positions})
    exported = torch.export.export(model, inputs(3, 5), dynamic_shapes=shapes)
    for lengths in ((3, 5), (6, 4), (9, 17)):
        given = inputs(*lengths)
        assert torch.allclose(exported.module()(*given), model(*given), atol=1e-5)
