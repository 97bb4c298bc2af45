"""A17: local-m and local-p of Luong et al. 2015, section 3.2; and sliding windows."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import Attention, sliding_window

from .attention_layer import Rules, assert_gradients, assert_layer, inputs_of, random, rows
from .build import assert_close, randomize
from .recurrent import Array, array, sigma

SIZES = (6, 8, 4)


def make(*sizes: int, **options: Any) -> Any:
    return randomize(Attention(*sizes, **options)).double().eval()


def predicted(attention: Any, head: int, s: Array, length: int) -> float:
    """p_t = S sigmoid(v_p . tanh(W_p h_t)): eq. 9."""
    w_p, v_p = array(attention.local.W_p.weight), array(attention.local.v_p.weight)
    return length * float(sigma(v_p[head] @ np.tanh(w_p @ s)))


def predictive(attention: Any, queries: torch.Tensor, lengths: list[int], width: int) -> Rules:
    """align(h_t, h_s) exp(-(s - p_t)^2 / (2 (D/2)^2)), s in [p_t - D, p_t + D]: eq. 10.

    Here s counts from 1 to S, as in the paper.
    """

    def offset(b: int, h: int, i: int, j: int) -> float:
        return (j + 1) - predicted(attention, h, queries[b, i].numpy(), lengths[b])

    def gaussian(b: int, h: int, i: int, j: int) -> float:
        deviation = width / 2
        return math.exp(-(offset(b, h, i, j) ** 2) / (2 * deviation**2))

    return Rules(sees=lambda *at: abs(offset(*at)) <= width, factor=gaussian)


@pytest.mark.parametrize("width", [1, 2, 3, 10])
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("score", ["scaled_dot", "general", "additive"])
def test_predictive(score: str, heads: int, width: int) -> None:
    attention = make(
        *SIZES,
        score=score,
        heads=heads,
        hidden_size=8,
        project=True,
        local="predictive",
        local_width=width,
    )
    inputs, lengths = inputs_of(SIZES, queries=6, positions=9), [9, 4]
    rules = predictive(attention, inputs[0], lengths, width)
    assert_layer(attention, inputs, score, rules, lengths=lengths)


def test_predictive_is_not_made_to_sum_to_one() -> None:
    attention = make(*SIZES, score="general", local="predictive", local_width=2)
    inputs = inputs_of(SIZES, queries=6, positions=9)
    sums = attention(*inputs, need_weights=True).weights.sum(-1)
    assert (sums > 0).all() and (sums < 1).all() and sums.min() < 0.8


def test_predicted_position_lies_in_the_sentence() -> None:
    """S is the number of real positions, of each example: 0 < p < S, and S sigma(0) = S / 2."""
    attention = make(*SIZES, score="general", local="predictive")
    q = random(2, 6, 6)
    center = attention.local.center(q, torch.tensor([[9], [4]]))
    for b, length in enumerate([9, 4]):
        expected = [predicted(attention, 0, s, length) for s in rows(q[b])]
        assert_close(center[b, 0], expected)
    half = attention.local.center(torch.zeros(1, 1, 6).double(), torch.tensor([[9]]))
    assert half.item() == 4.5


def test_predictive_with_padding_on_the_left() -> None:
    """Positions are counted among the real ones, wherever the padding stands."""
    attention = make(*SIZES, score="general", local="predictive", local_width=2)
    q, k, v = inputs_of(SIZES, batch=1, queries=6, positions=4)
    alone = attention(q, k, v, need_weights=True)
    padded = [torch.cat([torch.full_like(x[:, :3], torch.nan), x], dim=1) for x in (k, v)]
    key_mask = torch.arange(7)[None] >= 3
    found = attention(q, *padded, key_mask=key_mask, need_weights=True)
    assert_close(found.context, alone.context.detach())
    assert_close(found.weights[..., 3:], alone.weights.detach())


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("score", ["scaled_dot", "general", "additive"])
def test_monotonic(score: str, width: int) -> None:
    """p_t = t: query i sees the positions i - D to i + D, and past the end of the source none."""
    attention = make(
        *SIZES, score=score, heads=2, hidden_size=8, project=True, local="monotonic",
        local_width=width,
    )  # fmt: skip
    rules = Rules(sees=lambda b, h, i, j: i - width <= j <= i + width)
    inputs = inputs_of(SIZES, queries=8, positions=5)
    assert_layer(attention, inputs, score, rules, lengths=[5, 3])


def test_monotonic_step_by_step() -> None:
    """Query t alone stands at t when its position is given."""
    attention = make(*SIZES, score="general", local="monotonic", local_width=1)
    q, k, v = inputs_of(SIZES, queries=4)
    whole = attention(q, k, v).context
    memory = attention.prepare(k, v)
    for i in range(4):
        step = attention(q[:, i : i + 1], memory, positions=torch.tensor([i])).context
        assert_close(step[:, 0], whole[:, i].detach())


@pytest.mark.parametrize("causal", [False, True])
def test_monotonic_self_attention_with_padding_on_the_left(causal: bool) -> None:
    """Queries are counted among the real positions too."""
    attention = make(6, score="dot", local="monotonic", local_width=1)
    x = random(1, 4, 6)
    padded = torch.cat([torch.full_like(x[:, :3], torch.nan), x], dim=1)
    key_mask = torch.arange(7)[None] >= 3
    queries = torch.nan_to_num(padded)
    alone = attention(x, causal=causal, need_weights=True)
    found = attention(queries, key_mask=key_mask, causal=causal, need_weights=True)
    assert_close(found.context[:, 3:], alone.context.detach())
    assert_close(found.weights[:, :, 3:, 3:], alone.weights.detach())


def test_kinds_of_local_attention() -> None:
    with pytest.raises(ValueError, match="none of monotonic, predictive"):
        Attention(6, local="soft")
    with pytest.raises(ValueError, match="at least 1"):
        Attention(6, local="predictive", local_width=0)


@pytest.mark.parametrize("window", [0, 1, (2, 0), (0, 1), (3, 1)], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_sliding_window(window: int | tuple[int, int], causal: bool) -> None:
    """A query at place i sees the places i - before to i + after; dot family and others alike."""
    before, after = (window, window) if isinstance(window, int) else window
    for score in ("scaled_dot", "additive"):
        attention = make(6, 6, 4, score=score, heads=2, hidden_size=6, project=True, window=window)
        rules = Rules(
            sees=lambda b, h, i, j: i - before <= j <= i + after and (j <= i or not causal)
        )
        inputs = inputs_of((6, 6, 4), queries=5)
        assert_layer(attention, inputs, score, rules, lengths=[5, 3], causal=causal)


def test_window_of_the_last_queries() -> None:
    """Causal over a longer memory: the queries stand at its last places."""
    attention = make(6, 6, 4, window=(2, 0))
    rules = Rules(sees=lambda b, h, i, j: i + 4 - 2 <= j <= i + 4)
    assert_layer(attention, inputs_of((6, 6, 4), positions=7), "scaled_dot", rules, causal=True)


def test_window_over_given_positions() -> None:
    """Distances are between the positions that were given, of each example its own."""
    at, to = torch.tensor([[0, 5, 9], [7, 1, 3]]), torch.tensor([[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]])
    found = sliding_window(at, to, 3, 1)
    assert found.shape == (2, 1, 3, 5)
    for b, i, j in np.ndindex(2, 3, 5):
        near = int(at[b, i]) - 3 <= int(to[b, j]) <= int(at[b, i]) + 1
        assert bool(found[b, 0, i, j]) == near
    attention = make(6, 6, 4, window=(3, 1))
    q, k, v = inputs_of((6, 6, 4))
    memory = attention.prepare(k, v, positions=to)
    context, weights = attention(q, memory, positions=at, need_weights=True)
    expected = make(6, 6, 4)(q, k, v, mask=found, need_weights=True)
    assert_close(context, expected.context)
    assert_close(weights, expected.weights)
    assert_close(attention(q, memory, positions=at).context, expected.context)


@pytest.mark.parametrize("score", ["general", "additive"])
def test_gradients_of_predictive(score: str) -> None:
    """Through the Gaussian to W_p and v_p too."""
    attention = make(
        4, 3, 2, score=score, heads=2, hidden_size=4, project=True, local="predictive",
        local_width=2,
    )  # fmt: skip
    key_mask = torch.tensor([[True] * 5, [True, True, True, False, False]])
    assert_gradients(attention, inputs_of((4, 3, 2), queries=2), key_mask=key_mask)


@pytest.mark.parametrize("options", [{"local": "monotonic", "local_width": 1}, {"window": (1, 0)}])
def test_gradients_of_windows(options: dict[str, Any]) -> None:
    attention = make(4, 3, 2, score="general", heads=2, hidden_size=4, project=True, **options)
    assert_gradients(attention, inputs_of((4, 3, 2), queries=4, positions=3))


def test_drawing_far_from_the_window_keeps_gradients_finite() -> None:
    """There the Gaussian is 0 in floating point: no slope of its logarithm is ever taken."""
    attention = randomize(
        Attention(4, score="dot", local="predictive", local_width=1, select="hard")
    )
    q = torch.randn(1, 3, 4, requires_grad=True)
    sampled = attention.sample(q, torch.randn(1, 60, 4))
    (sampled.log_probability.sum() + sampled.entropy.sum()).backward()
    for tensor in (q, *attention.parameters()):
        assert tensor.grad is not None and tensor.grad.isfinite().all()
        assert tensor.grad.abs().max() > 0


def test_what_is_drawn_from_predictive() -> None:
    """Its weights made a distribution: the Gaussian's share of the softmax, over their sum."""
    attention = make(*SIZES, score="general", local="predictive", local_width=3)
    q, k, v = inputs_of(SIZES, queries=6, positions=9)
    alpha = attention(q, k, v, need_weights=True).weights
    sampled = attention.sample(q, k, v)
    share = alpha / alpha.sum(-1, keepdim=True)
    assert_close(sampled.weights, share.detach())
    for places in np.ndindex(2, 1, 6):
        possible = [float(x) for x in share[places].detach() if x > 0]
        expected = -sum(x * math.log(x) for x in possible)
        assert float(sampled.entropy[places].detach()) == pytest.approx(expected, abs=1e-12)
