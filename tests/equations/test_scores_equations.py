"""A5, A7, A17 (location): scores of a layer with any number of heads."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import Attention, location_scores

from .attention_layer import Rules, assert_gradients, assert_layer, inputs_of, part, random
from .bahdanau import softmax
from .build import assert_close, randomize
from .recurrent import affine, array


def make(*sizes: int, **options: Any) -> Any:
    return randomize(Attention(*sizes, **options)).double().eval()


@pytest.mark.parametrize("heads", [1, 2, 5])
def test_additive(heads: int) -> None:
    """A5: e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j), each head with its rows of W_a and U_a."""
    attention = make(6, 10, score="additive", heads=heads, hidden_size=20, project=False)
    w_a, u_a = array(attention.query_projection.weight), array(attention.key_projection.weight)
    v_a = array(attention.score.v_a)
    s, h = random(2, 3, 6), random(2, 4, 10, seed=6)
    found = weights_of(attention, s, h)
    size = 20 // heads
    for b, head, i in np.ndindex(2, heads, 3):
        some = slice(head * size, (head + 1) * size)
        e = []
        for j in range(4):
            inner = w_a[some] @ s[b, i].numpy() + u_a[some] @ h[b, j].numpy()
            e.append(sum(v_a[head, n] * np.tanh(inner[n]) for n in range(size)))
        assert_close(found[b, head, i], softmax(np.array(e)))


@pytest.mark.parametrize("heads", [1, 2, 5])
def test_concat(heads: int) -> None:
    """A7: e_ij = v_a . tanh(W_a [s_i; h_j]), W_a the two projections side by side."""
    attention = make(6, 10, score="concat", heads=heads, hidden_size=20, project=False)
    left, right = attention.query_projection.weight, attention.key_projection.weight
    w_a, v_a = array(torch.cat([left, right], dim=1)), array(attention.score.v_a)
    assert w_a.shape == (20, 6 + 10)
    s, h = random(2, 3, 6), random(2, 4, 10, seed=6)
    found = weights_of(attention, s, h)
    size = 20 // heads
    for b, head, i in np.ndindex(2, heads, 3):
        some = w_a[head * size : (head + 1) * size]
        e = []
        for j in range(4):
            joined = np.concatenate([s[b, i].numpy(), h[b, j].numpy()])
            e.append(float(v_a[head] @ np.tanh(some @ joined)))
        assert_close(found[b, head, i], softmax(np.array(e)))


@pytest.mark.parametrize("heads", [1, 2])
def test_dot_and_general_without_projections(heads: int) -> None:
    """A7: s . h and s W_a h of each head's own numbers; one W_a a head, its sides of any size."""
    s, h, like = random(2, 3, 6), random(2, 4, 8, seed=6), random(2, 4, 6, seed=7)
    w = make(6, 8, score="general", heads=heads, project=False)
    w_a = array(w.score.W_a)
    assert w_a.shape == (heads, 6 // heads, 8 // heads)
    dots = weights_of(make(6, score="dot", heads=heads, project=False), s, like)
    generals = weights_of(w, s, h)
    for b, head, i in np.ndindex(2, heads, 3):
        query = part(s[b, i].numpy(), head, heads)
        e = np.array([float(query @ part(like[b, j].numpy(), head, heads)) for j in range(4)])
        assert_close(dots[b, head, i], softmax(e))
        e = [float(query @ w_a[head] @ part(h[b, j].numpy(), head, heads)) for j in range(4)]
        assert_close(generals[b, head, i], softmax(np.array(e)))


@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("project", [False, True], ids=["", "projected"])
def test_location(heads: int, project: bool) -> None:
    """A17: alpha_i = softmax of the first S of W_a s_i; keys are not looked at."""
    attention = make(6, 8, 9, score="location", heads=heads, project=project, maximum_positions=7)
    assert attention.key_projection is None
    w_a = array(attention.score.W_a)
    s, h, v = inputs_of((6, 8, 9))
    lengths = [5, 3]
    key_mask = torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    found = attention(s, h, v, key_mask=key_mask, need_weights=True).weights
    for b, head, i in np.ndindex(2, heads, 3):
        query = s[b, i].numpy()
        query = affine(attention.query_projection, query) if project else query
        e = w_a[head] @ part(query, head, heads)
        assert len(e) == 7
        assert_close(found[b, head, i, : lengths[b]], softmax(e[: lengths[b]]))
    other = attention(s, torch.full_like(h, torch.nan), v, key_mask=key_mask, need_weights=True)
    assert torch.equal(other.weights, found)


def test_location_context() -> None:
    """c_i = sum_j alpha_ij v_j; keys that are their own positions tell the equation which row."""
    attention = make(6, 5, 4, score="location", maximum_positions=5)
    q, _, v = inputs_of((6, 5, 4))
    w_a = array(attention.score.W_a)[0]
    names = torch.zeros(2, 5, 5, dtype=torch.float64) + torch.arange(5)[:, None]
    assert_layer(attention, (q, names, v), lambda h, s, j: float(w_a[int(j[0])] @ s))


@pytest.mark.parametrize("heads", [1, 2])
def test_pure_location_scores(heads: int) -> None:
    query, w_a = random(2, heads, 3, 4), random(heads, 6, 4, seed=6)
    found = location_scores(query, w_a, 5)
    assert found.shape == (2, heads, 3, 5)
    for b, h, i, j in np.ndindex(2, heads, 3, 5):
        expected = sum(float(w_a[h, j, n]) * float(query[b, h, i, n]) for n in range(4))
        assert float(found[b, h, i, j]) == pytest.approx(expected, abs=1e-12)


def test_location_past_its_maximum() -> None:
    attention = Attention(6, score="location", maximum_positions=4)
    assert attention(torch.randn(1, 2, 6), torch.randn(1, 4, 6)).context.shape == (1, 2, 6)
    message = "5 positions, but the location score was made for at most 4: raise maximum_positions"
    with pytest.raises(ValueError, match=message):
        attention(torch.randn(1, 2, 6), torch.randn(1, 5, 6))


def test_gradients_of_location() -> None:
    attention = make(4, 3, 2, score="location", heads=2, maximum_positions=5, bias=False)
    assert_gradients(attention, inputs_of((4, 3, 2), queries=2, positions=3))


def test_values_of_an_unprojected_score() -> None:
    """A5: c_i = sum_j alpha_ij h_j, h_j itself, under padding and a causal mask."""
    attention = make(6, 8, score="additive", hidden_size=10)
    q, h, _ = inputs_of((6, 8, 8))
    rules = Rules(sees=lambda b, head, i, j: j <= i + 2)
    assert_layer(attention, (q, h, h), "additive", rules, lengths=[5, 2], causal=True)


def weights_of(attention: Any, s: Tensor, h: Tensor) -> Tensor:
    weights: Tensor = attention(s, h, need_weights=True).weights
    return weights
