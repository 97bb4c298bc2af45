"""Rotary positions, ALiBi and relative bias: what an attention does with distances."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import ALiBi, Attention, RelativeBias, Rotary
from regard.attention.positions import alibi_slopes, relative_buckets, rotate

from . import positions as reference
from .attention_layer import (
    Rules,
    assert_gradients,
    assert_layer,
    inputs_of,
    layer,
    random,
    rows,
    score_of,
)
from .build import assert_close, randomize
from .recurrent import Array

FAR_OUT = [0, 1, 2, 17, 511, 4000, 100_000]


def make(*sizes: int, **options: Any) -> Any:
    return randomize(Attention(*sizes, **options)).double().eval()


@pytest.mark.parametrize("theta", [10000.0, 100.0])
@pytest.mark.parametrize("size", [2, 6, 8])
def test_rotation(size: int, theta: float) -> None:
    """Pairs of neighbours are turned, each by its own 2 x 2 matrix; positions of every example."""
    x = random(2, 3, 7, size)
    positions = torch.tensor([FAR_OUT, FAR_OUT[::-1]])
    found = rotate(x, positions, theta)
    for b, h, n in np.ndindex(2, 3, 7):
        expected = reference.rotated(x[b, h, n].tolist(), int(positions[b, n]), theta)
        assert_close(found[b, h, n], expected, 1e-10)
    assert (found.norm(dim=-1) - x.norm(dim=-1)).abs().max() < 1e-12


def test_dot_of_rotated_depends_on_the_offset_alone() -> None:
    q, k = random(1, 1, 1, 8), random(1, 1, 1, 8, seed=6)
    for m in (0, 3, 50, 4000):
        for offset in (-7, -1, 0, 1, 20):
            if m - offset < 0:
                continue
            at, to = torch.tensor([[m]]), torch.tensor([[m - offset]])
            found = float((rotate(q, at) * rotate(k, to)).sum())
            expected = reference.complex_dot(q.flatten().tolist(), k.flatten().tolist(), offset)
            assert found == pytest.approx(expected, abs=1e-10)


def test_rotary_in_half_precision() -> None:
    """Angles are not kept in bfloat16, which has no 4,001: the error is that of the vectors."""
    attention = make(64, heads=2, hidden_size=128, position_scheme="rotary").bfloat16()
    assert isinstance(attention.scheme, Rotary) and not list(attention.scheme.buffers())
    worst = 0.0
    for seed in range(20):
        q = random(1, 1, 1, 64, seed=seed).bfloat16()
        at, to = torch.tensor([[4000]]), torch.tensor([[3990]])
        turned = attention.scheme.rotate(q, at).double() * attention.scheme.rotate(q, to).double()
        numbers = q.double().flatten().tolist()
        exact = reference.complex_dot(numbers, numbers, 10)
        worst = max(worst, abs(float(turned.sum()) - exact) / float(q.double().norm() ** 2))
    assert worst < 1e-2


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "general", "additive"])
@pytest.mark.parametrize("causal", [False, True])
def test_rotary_layer(score: str, causal: bool) -> None:
    """Projected queries and keys are turned before any score, values are not; shared keys too."""
    options = {"heads": 2, "hidden_size": 8, "project": True, "position_scheme": "rotary"}
    options |= {"key_heads": 1} if score == "scaled_dot" else {}
    attention = make(6, 8, 4, score=score, **options)
    q, k, v = inputs_of((6, 8, 4))
    plain = score_of(attention, score)
    first = 5 - 3 if causal else 0
    context, weights = attention(q, k, v, causal=causal, need_weights=True)
    fused = attention(q, k, v, causal=causal).context
    for b in range(2):
        # One key and query at a time, so that the score can be told where they stand.
        for i in range(3):
            seen = first + i + 1 if causal else 5
            expected, shares = turned_layer(
                attention, plain, q[b, i], k[b, :seen], v[b, :seen], first + i
            )
            assert_close(context[b, i], expected)
            assert_close(fused[b, i], expected)
            assert_close(weights[b, :, i, :seen], shares)


def turned_layer(
    attention: Any, plain: Any, q: Any, k: Any, v: Any, at: int
) -> tuple[Array, Array]:
    """The layer of one query that stands at `at` over keys that stand at 0, 1, 2, ..."""
    standing = iter(list(range(len(k))) * attention.heads)

    def score(h: int, query: Array, key: Array) -> float:
        turned_query = np.array(reference.rotated(query.tolist(), at))
        return plain(h, turned_query, np.array(reference.rotated(key.tolist(), next(standing))))

    contexts, weights = layer(attention, [q.numpy()], rows(k), rows(v), score)
    return contexts[0], weights[:, 0]


def test_slopes() -> None:
    """Press et al. 2022: 2^-1 ... 2^-8 of eight heads; and their code's of other numbers."""
    assert alibi_slopes(8) == [2.0**-n for n in range(1, 9)]
    assert alibi_slopes(6) == [2.0**-n for n in (2, 4, 6, 8, 1, 3)]
    assert alibi_slopes(1) == [2.0**-8]
    assert alibi_slopes(16)[:2] == pytest.approx([2**-0.5, 2**-1.0], rel=1e-15)
    for heads in range(1, 40):
        found = alibi_slopes(heads)
        assert len(found) == heads
        assert found == pytest.approx(reference.slopes(heads), rel=1e-12)


@pytest.mark.parametrize("heads", [1, 3, 8, 12])
def test_alibi_bias(heads: int) -> None:
    """- m_h |i - j|: 0 at the query's own place, and less with every step away."""
    at, to = torch.tensor([[0, 3, 40], [7, 7, 1]]), torch.tensor([[0, 1, 2, 3], [9, 7, 5, 1]])
    found = ALiBi(heads).bias(at, to)
    assert found.dtype == torch.float32 and found.shape == (2, heads, 3, 4)
    slopes = reference.slopes(heads)
    for b, h, i, j in np.ndindex(2, heads, 3, 4):
        expected = -slopes[h] * abs(int(at[b, i]) - int(to[b, j]))
        assert float(found[b, h, i, j]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [1, 3])
def test_alibi_layer(heads: int, causal: bool) -> None:
    """Added to scores that are scaled already; queries stand at the last places when causal."""
    slopes, first = reference.slopes(heads), 5 - 3 if causal else 0
    rules = Rules(
        sees=lambda b, h, i, j: j <= first + i or not causal,
        bias=lambda b, h, i, j: -slopes[h] * abs(first + i - j),
    )
    for score in ("scaled_dot", "additive"):
        attention = make(
            6, 8, 6, score=score, heads=heads, hidden_size=6, project=True, position_scheme="alibi"
        )
        assert_layer(attention, inputs_of((6, 8, 6)), score, rules, lengths=[5, 3], causal=causal)


@pytest.mark.parametrize(
    ("buckets", "maximum"), [(32, 128), (8, 16), (4, 2), (6, 50), (10, 37), (20, 160), (64, 1024)]
)
def test_buckets(buckets: int, maximum: int) -> None:
    """Every offset up to three times the greatest distance; whole powers are exact."""
    offsets = list(range(-3 * maximum, 3 * maximum + 1))
    found = relative_buckets(torch.tensor(offsets), buckets, maximum).tolist()
    assert found == [reference.bucket(offset, buckets, maximum) for offset in offsets]
    assert set(found) == set(range(buckets)) - {buckets // 2}  # no key ahead is at distance 0


def test_known_buckets() -> None:
    """The first distance of each of T5's wide buckets, of 32 up to 128: 8 * 16^(w / 8)."""
    starts = {8: 8, 9: 12, 10: 16, 11: 23, 12: 32, 13: 46, 14: 64, 15: 91}
    for number, distance in starts.items():
        offsets = torch.tensor([-distance, -distance + 1, distance, distance - 1])
        expected = [number, number - 1, 16 + number, 16 + number - 1]
        assert relative_buckets(offsets, 32, 128).tolist() == expected
    some = relative_buckets(torch.tensor([0, 1, -1, 10**9, -(10**9)]), 32, 128)
    assert some.tolist() == [0, 17, 1, 31, 15]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [1, 2])
def test_relative_layer(heads: int, causal: bool) -> None:
    """b[h, bucket(j - i)] is added to the scores."""
    scheme = RelativeBias(heads, buckets=8, maximum_distance=4)
    first = 5 - 3 if causal else 0
    for score in ("scaled_dot", "additive"):
        attention = make(
            6, 8, 4, score=score, heads=heads, hidden_size=6, project=True, position_scheme=scheme
        )
        table = scheme.table.detach().numpy()
        rules = Rules(
            sees=lambda b, h, i, j: j <= first + i or not causal,
            bias=lambda b, h, i, j, t=table: t[h, reference.bucket(j - first - i, 8, 4)],  # type: ignore[misc]
        )
        assert_layer(attention, inputs_of((6, 8, 4)), score, rules, lengths=[5, 3], causal=causal)


def test_relative_bias_of_no_kind() -> None:
    for wrong in ({"buckets": 5}, {"buckets": 2}, {"buckets": 32, "maximum_distance": 8}):
        with pytest.raises(ValueError, match="must be"):
            RelativeBias(2, **wrong)


def test_schemes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="heads of size 3 are not even"):
        Attention(6, heads=2, position_scheme="rotary")
    with pytest.raises(ValueError, match="scheme of 3 heads for 2 heads"):
        Attention(6, heads=2, position_scheme=ALiBi(3))


@pytest.mark.parametrize("scheme", ["rotary", "alibi", "relative"])
@pytest.mark.parametrize("score", ["scaled_dot", "additive"])
def test_gradients(scheme: str, score: str) -> None:
    """The relative bias's table among them, on both paths."""
    attention = make(
        4, 3, 2, score=score, heads=2, hidden_size=4, project=True, position_scheme=scheme
    )
    key_mask = torch.tensor([[True, True, True], [True, True, False]])
    inputs = inputs_of((4, 3, 2), queries=2, positions=3)
    assert_gradients(attention, inputs, key_mask=key_mask, causal=True)
