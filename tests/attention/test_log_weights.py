"""The logarithms of the weights: those of the weights, and where there is no weight left."""

import pytest
import torch

from .cases import BATCH, POSITIONS, QUERIES, Case, every_case, gradients, random_mask

KEY_MASK = random_mask(BATCH, POSITIONS)
MASK = random_mask(QUERIES, POSITIONS)


@every_case
@pytest.mark.parametrize("masked", [False, True])
@torch.no_grad()
def test_are_the_logarithms_of_the_weights(case: Case, masked: bool) -> None:
    """Of a distribution: local-p's weights are brought to one. The context stays what it was."""
    attention = case.make().double()
    masks = {"mask": MASK, "key_mask": KEY_MASK} if masked else {}
    inputs = case.inputs(torch.float64)
    context, weights = attention(*inputs, **masks, need_weights=True)
    also, logarithms = attention(*inputs, **masks, need_weights="log")
    assert torch.equal(context, also)
    sums = weights.sum(-1, keepdim=True)
    expected = torch.where(sums > 0, weights / sums, 0.0)
    assert (logarithms.exp() - expected).abs().max() < 1e-12
    assert torch.equal(logarithms == -torch.inf, weights == 0)


def test_go_where_weights_end() -> None:
    """Scores so far apart that a weight is 0 in float32: its logarithm is not, nor its gradient."""
    attention = Case((1, 1, 1), {"score": "dot"}).make()
    query = torch.full((1, 1, 1), 30.0, requires_grad=True)
    key = torch.tensor([[[10.0], [0.0], [-10.0]]])
    assert attention(query, key, need_weights=True).weights[0, 0, 0, 2] == 0
    logarithms = attention(query, key, need_weights="log").weights[0, 0, 0]
    torch.testing.assert_close(logarithms, torch.tensor([0.0, -300.0, -600.0]))
    (slope,) = torch.autograd.grad(logarithms[2], query)
    torch.testing.assert_close(slope, torch.full((1, 1, 1), -20.0))


def test_hidden_positions_give_no_gradient() -> None:
    """What stands where nothing may be attended to, NaN included, never reaches a gradient."""
    case = Case((4, 4, 4), {"score": "scaled_dot", "heads": 2})
    attention = case.make()
    query, key, value = case.inputs()
    key = key.masked_fill(~KEY_MASK[..., None], torch.nan)
    value = value.masked_fill(~KEY_MASK[..., None], torch.nan)
    logarithms = attention(query, key, value, key_mask=KEY_MASK, need_weights="log").weights
    logarithms.clamp(min=-1e30).sum().backward()
    assert all(gradient.isfinite().all() for gradient in gradients(attention))


def test_are_precise_in_half_precision() -> None:
    case = Case((4, 4, 4), {"score": "scaled_dot"})
    attention = case.make().to(torch.bfloat16)
    found = attention(*case.inputs(torch.bfloat16), need_weights="log")
    assert found.weights.dtype == torch.float32 and found.context.dtype == torch.bfloat16
