"""Dropout of our own: the rate, the mean, the gradient, the random state."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from regard.nn.dropout import dropout
from regard.nn.randomness import drawing_from


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_rate_and_scale(probability: float, dtype: torch.dtype) -> None:
    inputs = torch.ones(401, 1003, dtype=dtype)
    found = dropout(inputs, probability, True)
    assert found.shape == inputs.shape and found.dtype == dtype
    deviation = (probability * (1 - probability) / inputs.numel()) ** 0.5
    share = (found == 0).double().mean().item()
    assert abs(share - probability) < 5 * deviation + 2**-16
    kept = found[found != 0]
    assert (kept == kept[0]).all()
    limit = {torch.float32: 1e-4, torch.float64: 1e-4, torch.bfloat16: 8e-3}[dtype]
    assert kept[0].item() == pytest.approx(1 / (1 - probability), rel=limit)


def test_elements_are_independent() -> None:
    """Neighbours, and elements of one draw of 64 bits, agree as often as chance has it."""
    kept = (dropout(torch.ones(1 << 18), 0.5, True) != 0).double() * 2 - 1
    for distance in (1, 2, 3, 4, 8, 512):
        correlation = (kept[distance:] * kept[:-distance]).mean().item()
        assert abs(correlation) < 5 / len(kept) ** 0.5
    for place in range(4):
        assert abs(kept[place::4].mean().item()) < 5 / (len(kept) / 4) ** 0.5


def test_gradient_goes_where_the_value_went() -> None:
    inputs = torch.randn(7, 5, requires_grad=True)
    found = dropout(inputs, 0.4, True)
    found.sum().backward()
    assert inputs.grad is not None
    assert torch.allclose(inputs.grad * inputs, found)
    assert (inputs.grad == 0).any() and (inputs.grad > 1).any()


def test_follows_the_random_state() -> None:
    inputs = torch.randn(3, 5)
    torch.manual_seed(7)
    one, two = dropout(inputs, 0.5, True), dropout(inputs, 0.5, True)
    torch.manual_seed(7)
    assert torch.equal(dropout(inputs, 0.5, True), one)
    assert not torch.equal(one, two)


def test_draws_from_a_generator_of_its_own() -> None:
    """The global random state stays as it was, other threads follow it, and afterwards all do."""
    inputs = torch.ones(1000)
    torch.manual_seed(7)
    usual = dropout(inputs, 0.5, True)
    torch.manual_seed(7)
    with drawing_from(torch.Generator().manual_seed(3)):
        own = dropout(inputs, 0.5, True)
        with ThreadPoolExecutor(1) as other:
            assert torch.equal(other.submit(dropout, inputs, 0.5, True).result(), usual)
    torch.manual_seed(7)
    assert torch.equal(dropout(inputs, 0.5, True), usual)
    assert not torch.equal(own, usual)
    with drawing_from(torch.Generator().manual_seed(3)):
        assert torch.equal(dropout(inputs, 0.5, True), own)


@pytest.mark.parametrize("shape", [(), (0, 4), (1,), (3,), (2, 3, 5)])
def test_any_shape(shape: tuple[int, ...]) -> None:
    found = dropout(torch.ones(shape), 0.5, True)
    assert found.shape == shape
    assert set(found.flatten().tolist()) <= {0.0, 2.0}


def test_nothing_to_do() -> None:
    inputs = torch.randn(3, 5)
    assert dropout(inputs, 0.5, False) is inputs
    assert dropout(inputs, 0.0, True) is inputs


def test_next_to_one() -> None:
    """The highest probability that a configuration allows: almost all are zero, none is NaN."""
    found = dropout(torch.ones(1000), 1 - 1e-9, True)
    assert found.isfinite().all() and (found == 0).sum() >= 990
