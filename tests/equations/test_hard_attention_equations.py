"""A12: hard attention draws a position, and says how probable it was."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import Attention, Sampled
from regard.attention.selection import draw, entropy

from . import selection as reference
from .attention_layer import inputs_of, layer, part, random, rows, score_of
from .build import assert_close, randomize
from .recurrent import array

SAMPLES = 20000


def make(*sizes: int, **options: Any) -> Any:
    return randomize(Attention(*sizes, select="hard", **options)).double().eval()


def chi_square_bound(freedom: int) -> float:
    """Exceeded once in a million times (Wilson and Hilferty 1931)."""
    share = 2 / (9 * freedom)
    return freedom * (1 - share + 4.7534 * math.sqrt(share)) ** 3


def chi_square(counts: list[int], p: list[float]) -> float:
    """sum_j (n_j - n p_j)^2 / (n p_j)."""
    n = sum(counts)
    return sum((c - n * x) ** 2 / (n * x) for c, x in zip(counts, p, strict=True))


@pytest.mark.parametrize(
    ("score", "heads", "shared"),
    [("scaled_dot", 1, 1), ("general", 2, 2), ("additive", 2, 2), ("dot", 4, 2), ("general", 4, 1)],
)
def test_the_best_in_use(score: str, heads: int, shared: int) -> None:
    """c_i = a_{l_i}, l_i the most probable position; the weights are those of the softmax."""
    sizes = {"hidden_size": 8, "key_heads": shared}
    attention = make(6, 8, 4, score=score, heads=heads, project=("query", "key"), **sizes)
    q, k, v = inputs_of((6, 8, 4))
    key_mask = torch.arange(5)[None] < torch.tensor([5, 3])[:, None]
    context, weights = attention(q, k, v, key_mask=key_mask, need_weights=True)
    alone = attention(q, k, v, key_mask=key_mask).context
    assert torch.equal(alone, context)
    for b, length in enumerate([5, 3]):
        keys, values = rows(k[b])[:length], rows(v[b])[:length]
        _, shares = layer(attention, rows(q[b]), keys, values, score_of(attention, score))
        assert_close(weights[b, :, :, :length], shares)
        for i in range(3):
            best = [int(np.argmax(shares[h, i])) for h in range(heads)]
            group = heads // shared
            chosen = [part(values[best[h]], h // group, shared) for h in range(heads)]
            assert_close(context[b, i], np.concatenate(chosen))


@pytest.mark.parametrize("heads", [1, 2])
def test_log_probability_and_entropy(heads: int) -> None:
    """Of what was drawn, told by the context; all 0 where there is nothing to attend to."""
    attention = make(4, 4, 4, score="dot", heads=heads, project=False)
    q, k, _ = inputs_of((4, 4, 4))
    v = torch.arange(1, 6).double()[None, :, None].expand(2, 5, 4)  # its position, from 1
    mask = random(2, heads, 3, 5, seed=8) > -0.5
    mask[0, 0, 1] = False
    sampled = attention.sample(q, k, v, mask=mask)
    assert isinstance(sampled, Sampled)
    places = sampled.context.view(2, 3, heads, -1)[..., 0]
    for b, h, i in np.ndindex(2, heads, 3):
        seen = [j for j in range(5) if mask[b, h, i, j]]
        query = part(array(q[b, i]), h, heads)
        scores = [float(query @ part(array(k[b, j]), h, heads)) for j in seen]
        log_p, spread = float(sampled.log_probability[b, h, i]), float(sampled.entropy[b, h, i])
        if not seen:
            assert log_p == 0 and spread == 0 and places[b, i, h] == 0
            assert (sampled.weights[b, h, i] == 0).all()
            continue
        alpha = reference.softmax(scores)
        expected = np.zeros(5)
        expected[seen] = alpha
        assert_close(sampled.weights[b, h, i], expected)
        drawn = seen.index(int(places[b, i, h]) - 1)
        assert log_p == pytest.approx(math.log(alpha[drawn]), abs=1e-12)
        assert spread == pytest.approx(reference.entropy(alpha), abs=1e-12)


def test_entropy_of_certainty() -> None:
    """0 log 0 = 0: a weight of 0 adds nothing, to the gradient neither."""
    log_weights = torch.tensor([[0.0, -torch.inf], [math.log(0.25), math.log(0.75)]])
    log_weights.requires_grad_()
    found = entropy(log_weights)
    expected = [0.0, reference.entropy([0.25, 0.75])]
    assert found.tolist() == pytest.approx(expected, abs=1e-6)
    found.sum().backward()
    assert log_weights.grad is not None and log_weights.grad[0].tolist() == [-1.0, 0.0]


def test_draws_are_as_frequent_as_weights_say() -> None:
    """Also jointly over two heads, which draw apart; a position of weight 0 is never drawn."""
    weights = torch.tensor([[0.5, 0.25, 0.0, 0.2, 0.05], [0.1, 0.0, 0.3, 0.0, 0.6]]).double()
    generator = torch.Generator().manual_seed(3)
    chosen = draw(weights[None, :, None].expand(SAMPLES, 2, 2, 5), generator)
    assert chosen.shape == (SAMPLES, 2, 2)
    joint = [(a, b) for a, b in np.ndindex(5, 5) if float(weights[0, a]) * float(weights[1, b]) > 0]
    for query in range(2):
        pairs = [tuple(pair) for pair in chosen[:, :, query].tolist()]
        counts = [pairs.count(pair) for pair in joint]
        assert sum(counts) == SAMPLES
        p = [float(weights[0, a]) * float(weights[1, b]) for a, b in joint]
        assert chi_square(counts, p) < chi_square_bound(len(joint) - 1)
        assert chi_square(counts, [1 / len(joint)] * len(joint)) > 20 * len(joint)
    between = (chosen[:, :, 0] == chosen[:, :, 1]).double().mean(0)  # queries draw apart too
    assert (between - weights.square().sum(-1)).abs().max() < 5 * 0.5 / math.sqrt(SAMPLES)


@pytest.mark.parametrize("how", ["forward", "sample"])
def test_a_layer_draws_in_training(how: str) -> None:
    attention = make(3, 3, 1, score="dot").train()
    q, k = random(1, 1, 3).expand(1, SAMPLES, 3), random(1, 4, 3, seed=6)
    v = torch.arange(4).double()[None, :, None]
    call = attention if how == "forward" else attention.sample
    drawn = call(q, k, v).context[0, :, 0].tolist()
    alpha = reference.softmax([float(q[0, 0] @ k[0, j]) for j in range(4)])
    assert chi_square([drawn.count(j) for j in range(4)], alpha) < chi_square_bound(3)
    in_use = attention.eval()(q, k, v).context
    assert in_use.unique().tolist() == [float(np.argmax(alpha))]


def test_draws_repeat_with_the_seed() -> None:
    attention = make(3, 3, 1, score="dot")
    q, k, v = random(1, 50, 3), random(1, 9, 3, seed=6), random(1, 9, 1, seed=7)

    def drawn(seed: int) -> Tensor:
        found: Tensor = attention.sample(q, k, v, generator=torch.Generator().manual_seed(seed))[0]
        return found

    assert torch.equal(drawn(1), drawn(1)) and not torch.equal(drawn(1), drawn(2))


def test_a_weight_of_zero_is_never_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even when the generator gives an exponential of 0, which would make 0 / 0."""
    monkeypatch.setattr(torch.Tensor, "exponential_", lambda self, **_: self.zero_())
    weights = torch.tensor([0.0, 0.3, 0.0, 0.7])[None, None, None]
    assert draw(weights).item() in (1, 3)


@pytest.mark.parametrize("training", [True, False])
def test_nothing_to_draw_from(training: bool) -> None:
    """A memory of no positions: all 0, with a gradient of none."""
    attention = make(4, 4, 4, score="dot", heads=2, project=False).train(training)
    q = random(2, 3, 4).requires_grad_()
    empty = torch.zeros(2, 0, 4).double()
    assert (attention(q, empty).context == 0).all()
    sampled = attention.sample(q, empty)
    assert sampled.context.shape == (2, 3, 4) and (sampled.context == 0).all()
    assert sampled.weights.shape == (2, 2, 3, 0)
    for tensor in (sampled.log_probability, sampled.entropy):
        assert tensor.shape == (2, 2, 3) and (tensor == 0).all()


def test_no_gradient_through_the_draw() -> None:
    """From the context only to the value at the drawn position; never to query or key."""
    attention = make(3, 3, 2, score="dot")
    q, k, v = (x.requires_grad_() for x in inputs_of((3, 3, 2)))
    for context in (attention.sample(q, k, v).context, attention.train()(q, k, v).context):
        of_query, of_key, of_value = torch.autograd.grad(
            context.sum(), (q, k, v), allow_unused=True
        )
        assert of_query is None and of_key is None
        picked = np.zeros((2, 5, 2))
        for b, i in np.ndindex(2, 3):
            same = [j for j in range(5) if torch.equal(context[b, i], v[b, j])]
            assert len(same) == 1
            picked[b, same[0]] += 1
        assert_close(of_value, picked)


def test_gradients_of_what_is_reported() -> None:
    """grad log p(l) and grad H[l] by gradcheck, the same draw every time; rows of nothing too."""
    attention = make(3, 3, 2, score="general")
    q, k, v = inputs_of((3, 3, 2))
    mask = random(2, 1, 3, 5, seed=8) > -0.5
    mask[0, 0, 1] = False

    def call(q: Tensor, k: Tensor) -> tuple[Tensor, ...]:
        generator = torch.Generator().manual_seed(1)
        found = attention.sample(q, k, v, mask=mask, generator=generator)
        return found.log_probability, found.entropy, found.weights

    leaves = [x.detach().clone().requires_grad_() for x in (q, k)]
    assert torch.autograd.gradcheck(call, leaves, atol=1e-7)
