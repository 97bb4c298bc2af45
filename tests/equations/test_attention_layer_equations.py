"""B1-B5, B8: the layer with every projection, any heads, shared keys, masks and grids."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import Attention, flatten_grid, fold_grid, weighted_sum

from . import attention_layer as reference
from .attention_layer import Rules, assert_gradients, assert_layer, inputs_of, random
from .build import assert_close, randomize

SIZES = {"dot": (6, 6, 7), "scaled_dot": (6, 6, 7), "general": (6, 8, 7), "additive": (6, 8, 7)}
EVERY_SCORE = [*SIZES, "concat"]


def make(*sizes: int, **options: Any) -> Any:
    return randomize(Attention(*sizes, **options)).double().eval()


@pytest.mark.parametrize("score", EVERY_SCORE)
def test_one_query(score: str) -> None:
    """B1-B3: e_j = f_att(q, x_j), a = softmax(e), c = sum_j a_j x_j; with and without values."""
    sizes = SIZES.get(score, (6, 8, 7))
    hidden = {"hidden_size": 10} if score in ("additive", "concat") else {}
    q, k, v = inputs_of(sizes, queries=1)
    assert_layer(make(*sizes, score=score, **hidden), (q, k, v), score)
    attention = make(*sizes[:2], score=score, **hidden)
    assert_layer(attention, (q, k, k), score)
    assert torch.equal(attention(q, k).context, attention(q, k, k).context)


def test_weighted_sum() -> None:
    """B1: softmax(Q K^T) V; fewer heads of values serve neighbouring heads of weights."""
    weights, value = random(2, 6, 3, 5), random(2, 3, 5, 4, seed=6)
    found = weighted_sum(weights, value)
    for b, h, i, n in np.ndindex(2, 6, 3, 4):
        expected = sum(float(weights[b, h, i, j]) * float(value[b, h // 2, j, n]) for j in range(5))
        assert float(found[b, h, i, n]) == pytest.approx(expected, abs=1e-12)


PROJECTIONS = [(), ("query",), ("key",), ("value",), ("output",), ("query", "key"), True]


@pytest.mark.parametrize("project", PROJECTIONS, ids=str)
@pytest.mark.parametrize("bias", [True, False], ids=["bias", ""])
def test_every_projection(project: Any, bias: bool) -> None:
    """B4, B5: each of W^Q, W^K, W^V, W^O on its own and all together, three heads."""
    attention = make(6, 6, 9, heads=3, output_size=7, project=project, bias=bias)
    biases = [name for name, _ in attention.named_parameters() if name.endswith("bias")]
    wanted = 4 if project is True else len(project)
    assert len(biases) == (wanted if bias else 0)
    assert_layer(attention, inputs_of((6, 6, 9)), "scaled_dot")


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("score", EVERY_SCORE)
def test_multi_head(score: str, heads: int) -> None:
    """B5 with every score, inner and outer sizes that differ from the query's, and padding."""
    sizes = (6, 9, 7)
    chosen = {"heads": heads, "hidden_size": 8, "output_size": 5, "project": True}
    attention = make(*sizes, score=score, **chosen)
    assert_layer(attention, inputs_of(sizes), score, lengths=[3, 5])


def test_scaled_by_the_size_of_a_head() -> None:
    """B2: sqrt(d_k) is that of the projected keys of one head, not of the input."""
    attention = make(6, heads=2, hidden_size=8)
    assert attention.score.scale == 1 / math.sqrt(4)


@pytest.mark.parametrize("shared", [1, 2])
@pytest.mark.parametrize("score", ["dot", "scaled_dot", "general"])
def test_grouped_queries(score: str, shared: int) -> None:
    """Ainslie et al. 2023: four heads of queries over one (Shazeer 2019) or two of keys."""
    attention = make(6, 9, 7, score=score, heads=4, key_heads=shared, hidden_size=8)
    assert attention.key_projection.out_features == 2 * shared
    assert_layer(attention, inputs_of((6, 9, 7)), score, lengths=[5, 2])


def test_grouped_queries_are_repeated_keys() -> None:
    """The same as four heads of keys, each group's keys and values written out again."""
    grouped = make(6, 9, 7, heads=4, key_heads=2, hidden_size=8)
    whole = make(6, 9, 7, heads=4, hidden_size=8)
    state = grouped.state_dict()
    for name in ("key_projection", "value_projection"):
        for kind in ("weight", "bias"):
            parts = state[f"{name}.{kind}"].unflatten(0, (2, 2))
            repeated = torch.stack([parts[0], parts[0], parts[1], parts[1]]).flatten(0, 1)
            state[f"{name}.{kind}"] = repeated
    whole.load_state_dict(state)
    inputs = inputs_of((6, 9, 7))
    one, other = grouped(*inputs, need_weights=True), whole(*inputs, need_weights=True)
    assert_close(one.context, other.context.detach())
    assert_close(one.weights, other.weights.detach())
    assert_close(grouped(*inputs).context, other.context.detach())


@pytest.mark.parametrize("score", ["scaled_dot", "general", "additive"])
def test_masks_and_bias(score: str) -> None:
    """mask AND key_mask AND causal (bottom-right); a bias of every example, head and pair."""
    attention = make(6, 9, 7, score=score, heads=2, hidden_size=8, project=True)
    mask, bias = random(2, 2, 3, 5, seed=8) > -0.7, random(2, 2, 3, 5, seed=9)
    mask[0, 1, 1] = False  # nothing to attend to: the head is 0
    rules = Rules(
        sees=lambda b, h, i, j: bool(mask[b, h, i, j]) and j <= i + 5 - 3,
        bias=lambda b, h, i, j: float(bias[b, h, i, j]),
    )
    inputs = inputs_of((6, 9, 7))
    options = {"mask": mask, "bias": bias, "causal": True}
    assert_layer(attention, inputs, score, rules, lengths=[5, 4], **options)


@pytest.mark.parametrize("queries", [5, 3, 7])
@pytest.mark.parametrize("heads", [1, 2])
def test_causal(heads: int, queries: int) -> None:
    """B6: query i of T_q sees the positions j <= i + T_k - T_q; the first may see none."""
    attention = make(6, 6, 4, heads=heads, project=heads > 1)
    rules = Rules(sees=lambda b, h, i, j: j - 5 <= i - queries)
    assert_layer(attention, inputs_of((6, 6, 4), queries=queries), "scaled_dot", rules, causal=True)


@pytest.mark.parametrize("score", EVERY_SCORE)
def test_gradients(score: str) -> None:
    """Of every input and parameter, under all masks, with a row that has nothing to attend to."""
    attention = make(4, 3, 2, score=score, heads=2, hidden_size=4, output_size=3, project=True)
    mask = random(2, 1, 2, 3, seed=8) > -0.5
    mask[0, 0, 1] = False
    inputs = inputs_of((4, 3, 2), queries=2, positions=3)
    key_mask = torch.tensor([[True, True, True], [True, True, False]])
    assert_gradients(attention, inputs, mask=mask, key_mask=key_mask, causal=True)


def test_gradients_of_grouped_queries() -> None:
    attention = make(4, 3, 2, heads=2, key_heads=1, hidden_size=4, bias=False)
    assert_gradients(attention, inputs_of((4, 3, 2), queries=2, positions=3))


def test_gradient_of_a_bias() -> None:
    attention, inputs = make(2), inputs_of((2, 2, 2), queries=2, positions=3)

    def call(bias: Tensor) -> Tensor:
        context: Tensor = attention(*inputs, bias=bias).context
        return context

    bias = random(2, 1, 2, 3).requires_grad_()
    assert torch.autograd.gradcheck(call, (bias,), atol=1e-7)


def test_a_grid_is_a_memory() -> None:
    """B8: position row * W + column of N = H W; the weights fold back to H x W."""
    attention = make(6, 4, score="additive", heads=2, hidden_size=8)
    grid, q = random(2, 3, 5, 4), random(2, 2, 6, seed=6)
    flat = flatten_grid(grid)
    context, weights = attention(q, flat, need_weights=True)
    folded = fold_grid(weights, 3, 5).detach().numpy()
    score = reference.score_of(attention, "additive")
    for b in range(2):
        vectors = [grid[b, y, x].numpy() for y in range(3) for x in range(5)]
        expected, shares = reference.layer(attention, list(q[b].numpy()), vectors, vectors, score)
        assert_close(context[b], expected)
        for h, i, y, x in np.ndindex(2, 2, 3, 5):
            assert folded[b, h, i, y, x] == pytest.approx(shares[h, i, y * 5 + x], abs=1e-12)
    with pytest.raises(ValueError, match="15 positions do not fold into 5 rows of 4 columns"):
        fold_grid(weights, 5, 4)
