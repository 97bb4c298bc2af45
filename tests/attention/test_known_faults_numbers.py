"""What is known to go wrong in attention layers elsewhere, as checks: overflow, first values, and
equations that are not the paper's. ``test_known_faults.py`` says where the rest is.
"""

import itertools

import pytest
import torch

from regard.attention import (
    Attention,
    additive_scores,
    doubly_stochastic_penalty,
    sinusoidal_positions,
)

from .cases import every_placed_self, make_self, need_weights


@every_placed_self
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@need_weights
def test_halves_overflow(options: dict, dtype: torch.dtype, need_weights: bool) -> None:
    """fairseq#3575, flax#982: large negative numbers for what is hidden; under autocast too."""
    attention = make_self(options, size=48)
    x = 20 * torch.randn(2, 3, 48)
    masks = {"key_mask": torch.tensor([[True] * 3, [False, False, True]]), "causal": True}
    with torch.autocast("cpu", dtype=dtype):
        assert attention(x, **masks, need_weights=need_weights).context.isfinite().all()
    half = attention.to(dtype)(x.to(dtype), **masks, need_weights=need_weights).context
    assert half.dtype == dtype and half.isfinite().all()


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "general"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@need_weights
def test_products_overflow_before_they_are_scaled(
    score: str, dtype: torch.dtype, need_weights: bool
) -> None:
    """pytorch#60940: q . k = 5,760,000 is beyond float16, in halves as under autocast."""
    attention = Attention(64, score=score)
    if score == "general":
        attention.score.W_a.data = torch.eye(64)[None]
    x = torch.full((2, 3, 64), 300.0)
    key_mask = torch.tensor([[True, True, False]] * 2)
    with torch.autocast("cpu", dtype=dtype):
        assert (attention(x, key_mask=key_mask, need_weights=need_weights).context == 300).all()
    context = attention.to(dtype)(x.to(dtype), key_mask=key_mask, need_weights=need_weights).context
    assert (context == 300).all()


def test_projections_start_too_small() -> None:
    """pytorch#166378: query, key and value packed into one matrix start with the wrong deviation;
    sqrt(2 / (inputs + outputs)) each, within 3%, whatever the heads that share keys.
    """
    for key_heads in (8, 4):
        attention = Attention(512, heads=8, key_heads=key_heads)
        shared = 64 * key_heads
        for linear, outputs in (
            (attention.query_projection, 512),
            (attention.key_projection, shared),
            (attention.value_projection, shared),
            (attention.output_projection, 512),
        ):
            assert linear is not None and linear.weight.shape == (outputs, 512)
            expected = (2 / (512 + outputs)) ** 0.5
            assert linear.weight.std().item() == pytest.approx(expected, rel=0.03)
            assert not linear.bias.any()


def test_additive_has_no_matrices() -> None:
    """tensorflow#39332: v . tanh(W q + U k), by numbers; v = 0 attends evenly; no bias anywhere
    (OpenNMT-py#892).
    """
    attention = Attention(3, 4, score="additive", hidden_size=5).double()
    assert {name: tuple(p.shape) for name, p in attention.named_parameters()} == {
        "query_projection.weight": (5, 3),
        "key_projection.weight": (5, 4),
        "score.v_a": (1, 5),
    }
    q, k = torch.randn(2, 2, 3).double(), torch.randn(2, 6, 4).double()
    w, u, v_a = attention.query_projection.weight, attention.key_projection.weight, attention.score
    scores = additive_scores((q @ w.T)[:, None], (k @ u.T)[:, None], v_a.v_a)
    expected = torch.stack(
        [
            torch.stack(
                [(v_a.v_a[0] * torch.tanh(w @ q[b, i] + u @ k[b, j])).sum() for j in range(6)]
            )
            for b, i in itertools.product(range(2), range(2))
        ]
    )
    assert torch.allclose(scores.flatten(0, 2), expected, atol=1e-12)
    found = attention(q, k, need_weights=True).weights
    assert torch.allclose(found.flatten(0, 2), expected.softmax(-1), atol=1e-12)
    with torch.no_grad():
        v_a.v_a.zero_()
    even = attention(q, k, need_weights=True).weights
    assert torch.allclose(even, torch.full_like(even, 1 / 6), atol=1e-12)


def test_the_penalty_sums_over_the_wrong_axis() -> None:
    """arctic-captions#33: sum_j (1 - sum_i alpha_ij)^2 = 0.32 here; padded steps change nothing."""
    alpha = torch.tensor([[[[0.5, 0.5], [0.9, 0.1]]]])
    assert doubly_stochastic_penalty(alpha).item() == pytest.approx(0.32, abs=1e-6)
    padded = torch.cat([alpha, torch.tensor([[[[0.3, 0.7]]]])], dim=2)
    mask = torch.tensor([[True, True, False]])
    assert doubly_stochastic_penalty(padded, mask).item() == pytest.approx(0.32, abs=1e-6)


def test_odd_sizes_crash() -> None:
    """codertimo/BERT#78: sinusoids of odd sizes, with 2i in the exponent."""
    assert sinusoidal_positions(3, 5).shape == (3, 5)
    row = sinusoidal_positions(2, 4)[1]
    assert torch.allclose(row, torch.tensor([0.8415, 0.5403, 0.0100, 0.99995]), atol=5e-5)
