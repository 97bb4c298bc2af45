"""What an attention is made of: projections, sizes, first values, and what cannot be made."""

import pytest
import torch

from regard.attention import ALiBi, Attention


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
    assert names(score="additive", coverage=True) == additive | {"score.w_c"}
    assert names(score="location", maximum_positions=9) == {"score.W_a"}
    assert names(score="location", maximum_positions=9, heads=2) == {"score.W_a"} | both(
        "query", "value", "output"
    )
    assert names(gate=True) == {"gate.f_beta.weight", "gate.f_beta.bias"}
    assert names(local="predictive") == {"local.W_p.weight", "local.v_p.weight"}
    assert names(position_scheme="relative") == {"scheme.table"}
    for nothing in (
        {"local": "monotonic"},
        {"window": 3},
        {"position_scheme": "rotary"},
        {"position_scheme": "alibi"},
        {"select": "entmax"},
    ):
        assert names(**nothing) == set()


def test_nothing_but_parameters_is_kept() -> None:
    """No tables of positions, in no type: what is saved is what is learned."""
    for scheme in ("rotary", "alibi", "relative"):
        attention = Attention(8, heads=2, position_scheme=scheme, gate=True)
        assert not list(attention.buffers())
        assert set(attention.state_dict()) == {name for name, _ in attention.named_parameters()}


@pytest.mark.parametrize(("heads", "key_heads"), [(4, 2), (6, 1)])
def test_shared_heads_are_smaller(heads: int, key_heads: int) -> None:
    attention = Attention(6, 8, 10, heads=heads, key_heads=key_heads, hidden_size=12)
    part = 12 // heads
    assert attention.key_projection.weight.shape == (part * key_heads, 8)
    assert attention.value_projection.weight.shape == (part * key_heads, 10)
    memory = attention.prepare(torch.randn(3, 5, 8), torch.randn(3, 5, 10))
    assert memory.key.shape == memory.value.shape == (3, key_heads, 5, part)
    attended = attention(torch.randn(3, 2, 6), memory, need_weights=True)
    assert attended.context.shape == (3, 2, 6)
    assert attended.weights.shape == (3, heads, 2, 5)


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
        ({"select": "best"}, "select 'best' is none of soft, hard, sparsemax, entmax"),
        ({"heads": 3, "key_heads": 2}, "3 heads do not divide among 2 heads of keys"),
        ({"heads": 2, "key_heads": 4}, "2 heads do not divide among 4 heads of keys"),
        ({"heads": 2, "key_heads": 0}, "2 heads do not divide among 0 heads of keys"),
        (
            {"heads": 2, "key_heads": 1, "score": "additive"},
            "key_heads below heads is for dot, scaled_dot and general, not 'additive'",
        ),
        ({"score": "location"}, "maximum_positions is for score 'location', which needs it"),
        ({"maximum_positions": 9}, "maximum_positions is for score 'location'"),
        ({"coverage": True}, "coverage is for additive and concat, not 'scaled_dot'"),
        ({"position_scheme": "sine"}, "position_scheme 'sine' is none of rotary, alibi, relative"),
        ({"position_scheme": "rotary", "heads": 2}, "heads of size 3 are not even"),
        (
            {"position_scheme": "rotary", "key_size": 5, "score": "general"},
            "heads of size 5 are not even",
        ),
        ({"position_scheme": ALiBi(3)}, "a position scheme of 3 heads for 1 heads"),
        ({"local": "global"}, "local 'global' is none of monotonic, predictive"),
        ({"local": "monotonic", "local_width": 0}, "local_width must be at least 1, not 0"),
        ({"window": (-1, 2)}, "window"),
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
