"""Sparsemax and entmax by their definitions; what hides positions from them; in a layer."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import (
    Attention,
    masked_entmax,
    masked_log_softmax,
    masked_softmax,
    masked_sparsemax,
)

from . import selection as reference
from .attention_layer import Rules, assert_gradients, assert_layer, inputs_of, random
from .build import assert_close, randomize

Select = Callable[..., Tensor]
every_selection = pytest.mark.parametrize(
    ("select", "plain"),
    [
        (masked_softmax, reference.softmax),
        (masked_sparsemax, reference.sparsemax),
        (masked_entmax, reference.entmax),
    ],
    ids=["softmax", "sparsemax", "entmax"],
)
every_sparse = pytest.mark.parametrize(
    ("select", "plain"),
    [(masked_sparsemax, reference.sparsemax), (masked_entmax, reference.entmax)],
    ids=["sparsemax", "entmax"],
)


@every_selection
@pytest.mark.parametrize("spread", [0.1, 1.0, 10.0])
def test_definition(select: Select, plain: Callable[..., list[float]], spread: float) -> None:
    scores = spread * random(3, 4, 7) + 5.0
    weights = select(scores)
    for places in np.ndindex(3, 4):
        expected = plain(scores[places].tolist())
        assert_close(weights[places], expected)
        assert [x == 0 for x in weights[places].tolist()] == [x == 0 for x in expected]
    assert (weights >= 0).all()
    assert (weights.sum(-1) - 1).abs().max() < 1e-12


def test_known_values() -> None:
    """Worked out by hand: tau = 0.35 of two; all of one; ties share; (z/2 - tau)^2 of two."""
    cases = [
        ([1.0, 0.7, -1.0], [0.65, 0.35, 0.0]),
        ([3.0, 1.0, 0.0], [1.0, 0.0, 0.0]),
        ([0.2, 0.2, 0.2, 0.2], [0.25, 0.25, 0.25, 0.25]),
    ]
    for scores, expected in cases:
        assert_close(masked_sparsemax(torch.tensor(scores).double()), expected, 1e-6)
    found = masked_entmax(torch.tensor([0.0, -1.0, -9.0]).double())
    root = math.sqrt(2 - 0.25)  # a - b = 1/2 and a^2 + b^2 = 1
    expected = [((root + 0.5) / 2) ** 2, ((root - 0.5) / 2) ** 2, 0.0]
    assert_close(found, expected)


def test_sparsemax_is_the_nearest_point() -> None:
    """KKT: z_j - p_j is tau where p_j > 0, z_j <= tau where it is 0; no point is nearer."""
    scores = 2.0 * random(50, 6)
    weights = masked_sparsemax(scores)
    some = 0
    for z, p in zip(scores.tolist(), weights.tolist(), strict=True):
        taus = [a - b for a, b in zip(z, p, strict=True) if b > 0]
        assert max(taus) - min(taus) < 1e-12
        assert all(a <= taus[0] + 1e-12 for a, b in zip(z, p, strict=True) if b == 0)
        some += p.count(0.0)
    assert 50 < some < 250
    others = torch.distributions.Dirichlet(torch.full((6,), 0.3).double()).sample((50, 200))
    nearest = (weights - scores).square().sum(-1)
    assert (nearest[:, None] < (others - scores[:, None]).square().sum(-1)).all()


def test_entmax_maximizes_its_objective() -> None:
    """KKT of p . z + H_1.5(p): z_j - 2 sqrt(p_j) is one number where p_j > 0; z_j at most that."""
    scores = 3.0 * random(50, 6)
    weights = masked_entmax(scores)
    some = 0
    for z, p in zip(scores.tolist(), weights.tolist(), strict=True):
        levels = [a - 2 * math.sqrt(b) for a, b in zip(z, p, strict=True) if b > 0]
        assert max(levels) - min(levels) < 1e-9
        assert all(a <= levels[0] + 1e-9 for a, b in zip(z, p, strict=True) if b == 0)
        some += p.count(0.0)
        best = reference.expectation(p, z) + reference.tsallis(p, 1.5)
        for corner in range(6):
            mixed = [0.98 * x + 0.02 * (n == corner) for n, x in enumerate(p)]
            assert best > reference.expectation(mixed, z) + reference.tsallis(mixed, 1.5) - 1e-12
    assert 50 < some < 250


def test_from_dense_to_sparse() -> None:
    """On the same scores softmax keeps all, entmax drops some, sparsemax drops more."""
    scores = 2.0 * random(100, 8)
    kept = [int((f(scores) > 0).sum()) for f in (masked_softmax, masked_entmax, masked_sparsemax)]
    assert kept[0] == 800 > kept[1] > kept[2] > 100


@every_selection
def test_hidden_positions(select: Select, plain: Callable[..., list[float]]) -> None:
    """As though they were not there, NaN and infinities included; nothing left: weights of 0."""
    scores = 2.0 * random(6, 5, 7)
    mask = random(6, 5, 7, seed=8) > -0.3
    mask[2, 3] = False
    mask[4] = False
    junk = torch.tensor([torch.nan, torch.inf, -torch.inf, 1e300]).double()
    hidden = junk[torch.arange(6 * 5 * 7).view(6, 5, 7) % 4]
    weights = select(torch.where(mask, scores, hidden), mask)
    for places in np.ndindex(6, 5):
        seen = mask[places]
        assert (weights[places][~seen] == 0).all()
        if seen.any():
            assert_close(weights[places][seen], plain(scores[places][seen].tolist()))


@every_sparse
@pytest.mark.parametrize("shift", [-1e4, 0.0, 1e4, 1e9])
def test_hidden_positions_of_any_level(
    select: Select, plain: Callable[..., list[float]], shift: float
) -> None:
    """In float32, near and far from 0, all scores of one row equal or far apart."""
    mask = torch.tensor([True, True, False, True, False])
    for scores in ([0.0, 0.0, 9.0, 0.0, -9.0], [-50.0, 1.0, 99.0, 0.5, 2.0]):
        row = torch.tensor(scores) + shift
        weights = select(row, mask)
        assert weights.dtype == torch.float32
        expected = plain([float(x) for x in row[mask]])
        assert (weights[mask].double() - torch.tensor(expected)).abs().max() < 1e-5
        assert (weights[~mask] == 0).all()


@every_selection
def test_gradients(select: Select, plain: Callable[..., list[float]]) -> None:
    """gradcheck away from the kinks; 0 at hidden positions and where nothing is seen."""
    scores = random(4, 5).requires_grad_()
    mask = random(4, 5, seed=8) > -0.5
    mask[2] = False
    assert torch.autograd.gradcheck(lambda z: select(z, mask), (scores,), atol=1e-7)
    assert torch.autograd.gradcheck(select, (scores,), atol=1e-7)
    junk = torch.where(mask, scores.detach(), torch.nan).requires_grad_()
    (select(junk, mask) * random(4, 5, seed=9)).sum().backward()
    assert junk.grad is not None and junk.grad.isfinite().all()
    assert (junk.grad[~mask] == 0).all() and (junk.grad[mask] != 0).any()
    for row in (0, 1, 3):
        seen = mask[row]
        values = random(4, 5, seed=9)[row][seen].tolist()
        slopes = reference.slope(
            lambda z, r=values: reference.expectation(plain(z), r),  # type: ignore[misc]
            scores[row][seen].tolist(),
        )
        assert_close(junk.grad[row][seen], slopes, 1e-6)


def test_log_softmax() -> None:
    """Logarithms that never went through the weights: far scores keep their digits."""
    scores, mask = random(3, 5), random(3, 5, seed=8) > -0.5
    mask[1] = False
    scores[0] *= 1000
    found = masked_log_softmax(torch.where(mask, scores, torch.nan), mask)
    for b, j in np.ndindex(3, 5):
        if not mask[b, j]:
            assert found[b, j] == -torch.inf
            continue
        seen = scores[b][mask[b]].tolist()
        total = max(seen) + math.log(sum(math.exp(z - max(seen)) for z in seen))
        assert float(found[b, j]) == pytest.approx(float(scores[b, j]) - total, rel=1e-12)


LAYERS = pytest.mark.parametrize("name", ["sparsemax", "entmax"])


@LAYERS
@pytest.mark.parametrize("score", ["scaled_dot", "general", "additive"])
def test_layer(name: str, score: str) -> None:
    """The same weights in a layer of two heads, under padding and causality."""
    options: dict[str, Any] = {"heads": 2, "hidden_size": 8, "output_size": 5}
    attention = Attention(6, 8, 7, score=score, select=name, project=True, **options)
    randomize(attention).double().eval()
    plain = {"sparsemax": reference.sparsemax, "entmax": reference.entmax}[name]
    rules = Rules(sees=lambda b, h, i, j: j <= i + 2, choose=lambda e: np.array(plain(e.tolist())))
    inputs = inputs_of((6, 8, 7))
    assert_layer(attention, inputs, score, rules, lengths=[5, 2], causal=True)
    weights = attention(*inputs, need_weights=True).weights
    assert (weights.sum(-1) - 1).abs().max() < 1e-12


@LAYERS
def test_gradients_of_a_layer(name: str) -> None:
    attention = randomize(Attention(4, 3, 2, score="general", select=name)).double()
    key_mask = torch.tensor([[True, True, True], [True, True, False]])
    inputs = inputs_of((4, 3, 2), queries=2, positions=3)
    assert_gradients(attention, inputs, key_mask=key_mask)
