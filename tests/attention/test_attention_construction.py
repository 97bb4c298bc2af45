"""What an attention is made of: projections, sizes, first values, and what cannot be made."""

import pytest
import torch

from regard.attention import Attention


def names(**options: object) -> set[str]:
    return {name for name, _ in Attention(6, 6, **options).named_parameters()}  # type: ignore[arg-type]


def both(*linears: str) -> set[str]:
    return {f"{name}_projection.{part}" for name in linears for part in ("weight", "bias")}


def test_parameters() -> None:
    everything = both("query", "key", "value", "output")
    assert names() == set()
    assert names(project=True) == everything
    assert names(heads=2) == everything
    assert names(heads=2, project=False) == set()
    assert names(project=["key", "value"]) == both("key", "value")
    assert names(heads=2, bias=False) == {name for name in everything if name.endswith("weight")}
    assert names(score="general") == {"score.W_a"}
    additive = {"query_projection.weight", "key_projection.weight", "score.v_a"}
    assert names(score="additive") == names(score="concat") == additive
    assert names(score="additive", project=True) == additive | both("value", "output")


@pytest.mark.parametrize("score", ["scaled_dot", "general", "additive"])
def test_sizes(score: str) -> None:
    attention = Attention(6, 8, 10, score=score, heads=2, hidden_size=4, output_size=12)
    assert attention.context_size == 12
    assert attention(
        torch.randn(3, 2, 6), torch.randn(3, 5, 8), torch.randn(3, 5, 10)
    ).context.shape == (3, 2, 12)
    plain = Attention(6, 6, 10, score=score, heads=2, project=False)
    assert plain.context_size == 10
    assert plain(
        torch.randn(3, 2, 6), torch.randn(3, 5, 6), torch.randn(3, 5, 10)
    ).context.shape == (3, 2, 10)


def test_first_values() -> None:
    """Glorot, each matrix with the deviation of its own shape (torch packs three into one)."""
    attention = Attention(256, 192, heads=4, hidden_size=320)
    for linear, sizes in (
        (attention.query_projection, 256 + 320),
        (attention.key_projection, 192 + 320),
        (attention.value_projection, 192 + 320),
        (attention.output_projection, 320 + 256),
    ):
        assert linear is not None
        assert linear.weight.std().item() == pytest.approx((2 / sizes) ** 0.5, rel=0.03)
        assert (linear.bias == 0).all()
    general = Attention(256, 192, score="general", heads=2, project=False)
    assert general.score.W_a.std().item() == pytest.approx((2 / (128 + 96)) ** 0.5, rel=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "cosine"}, "score 'cosine' is none of dot, scaled_dot, general"),
        ({"heads": 4}, "query size 6 does not divide into 4 heads"),
        ({"key_size": 8}, "score 'scaled_dot' needs queries and keys of one size per head"),
        ({"key_size": 8, "score": "dot"}, "not 6 and 8: project them, or use score='general'"),
        ({"value_size": 7, "heads": 2, "project": False}, "value size 7 does not divide"),
        ({"project": ["keys"]}, r"project: \['keys'\] is none of query, key, value, output"),
    ],
)
def test_what_cannot_be_made(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Attention(6, **options)


def test_zero_vector_of_the_additive_score_attends_evenly() -> None:
    attention = Attention(6, 8, score="additive", hidden_size=10)
    with torch.no_grad():
        attention.score.v_a.zero_()
    weights = attention(torch.randn(2, 3, 6), torch.randn(2, 5, 8), need_weights=True).weights
    assert torch.allclose(weights, torch.full(weights.shape, 0.2), atol=1e-7)
