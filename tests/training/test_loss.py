"""The fused loss: the same numbers as the formula, without the logits."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from regard.training.loss import (
    linear_cross_entropy,
    linear_cross_entropy_reference,
)

TOKENS, SIZE, VOCABULARY = 37, 5, 11


def layer(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Features, weight, bias and targets."""
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(TOKENS, SIZE, dtype=dtype, generator=generator, requires_grad=True)
    weight = torch.randn(VOCABULARY, SIZE, dtype=dtype, generator=generator, requires_grad=True)
    bias = torch.randn(VOCABULARY, dtype=dtype, generator=generator, requires_grad=True)
    return features, weight, bias, torch.randint(0, VOCABULARY, (TOKENS,), generator=generator)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("rows", [1, 8, TOKENS, 1000, None])
def test_equals_the_formula(smoothing: float, with_bias: bool, rows: int | None) -> None:
    features, weight, bias, targets = layer()
    inputs = [features, weight, *([bias] if with_bias else [])]
    used = bias if with_bias else None
    fused = linear_cross_entropy(features, weight, used, targets, smoothing, rows)
    reference = linear_cross_entropy_reference(features, weight, used, targets, smoothing)
    torch.testing.assert_close(fused, reference, rtol=1e-12, atol=1e-12)
    for mine, theirs in zip(
        torch.autograd.grad(3 * fused.loss, inputs),
        torch.autograd.grad(3 * reference.loss, inputs),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_gradients_are_those_of_small_steps(smoothing: float) -> None:
    features, weight, bias, targets = layer()

    def loss(*inputs: Tensor) -> Tensor:
        return linear_cross_entropy(*inputs, targets[:6], smoothing, rows=4).loss

    assert torch.autograd.gradcheck(loss, (features[:6], weight, bias))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_agrees_with_torch(smoothing: float) -> None:
    features, weight, bias, targets = layer(torch.float32)
    loss, plain = linear_cross_entropy(features, weight, bias, targets, smoothing, rows=10)
    logits = F.linear(features, weight, bias)
    torch.testing.assert_close(loss, F.cross_entropy(logits, targets, label_smoothing=smoothing))
    torch.testing.assert_close(plain, F.cross_entropy(logits, targets).detach())


def test_by_hand() -> None:
    """Two symbols, logits 0 and ln 3: probabilities 1/4 and 3/4."""
    features = torch.tensor([[1.0]], dtype=torch.float64)
    weight = torch.tensor([[0.0], [3.0]], dtype=torch.float64).clamp(min=1).log()
    loss, plain = linear_cross_entropy(features, weight, None, torch.tensor([1]), 0.2)
    quarter, three_quarters = torch.tensor([0.25, 0.75], dtype=torch.float64).log()
    torch.testing.assert_close(plain, -three_quarters)
    torch.testing.assert_close(loss, -(0.8 + 0.1) * three_quarters - 0.1 * quarter)


def test_extreme_logits_stay_finite() -> None:
    """A target whose probability is 0 in float32, and a certain one."""
    features = torch.tensor([[500.0], [500.0]], requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0]], requires_grad=True)
    targets = torch.tensor([0, 1])
    loss, plain = linear_cross_entropy(features, weight, None, targets, 0.1)
    loss.backward()
    reference = linear_cross_entropy_reference(features, weight, None, targets, 0.1)
    assert plain.item() == 500.0
    torch.testing.assert_close(loss, reference.loss)
    assert features.grad is not None and torch.isfinite(features.grad).all()
    assert weight.grad is not None and torch.isfinite(weight.grad).all()


def test_what_is_not_a_number_is_told() -> None:
    features, weight, bias, targets = layer()
    with torch.no_grad():
        features[3, 0] = torch.nan
    assert linear_cross_entropy(features, weight, bias, targets, 0.1).loss.isnan()


def test_no_gradient_changes_no_value() -> None:
    features, weight, bias, targets = layer()
    known = linear_cross_entropy(features, weight, bias, targets, 0.1, rows=8)
    with torch.no_grad():
        loss = linear_cross_entropy(features, weight, bias, targets, 0.1, rows=8)
    assert not loss.loss.requires_grad
    torch.testing.assert_close(tuple(loss), (known.loss.detach(), known[1]), rtol=0, atol=1e-12)


def test_only_the_loss_carries_a_gradient() -> None:
    features, weight, bias, targets = layer()
    for smoothing in (0.0, 0.1):
        loss, plain = linear_cross_entropy(features, weight, bias, targets, smoothing)
        assert loss.requires_grad and not plain.requires_grad


def test_frozen_parts_get_no_gradient() -> None:
    features, weight, bias, targets = layer()
    loss = linear_cross_entropy(features, weight.detach(), bias.detach(), targets, 0.1).loss
    loss.backward()
    expected = linear_cross_entropy_reference(features, weight, bias, targets, 0.1).loss
    torch.testing.assert_close(features.grad, torch.autograd.grad(expected, features)[0])
    assert weight.grad is None and bias.grad is None


def test_backward_twice_gives_the_same() -> None:
    features, weight, bias, targets = layer()
    loss = linear_cross_entropy(features, weight, bias, targets, 0.1).loss
    first = torch.autograd.grad(2 * loss, [features, weight, bias], retain_graph=True)
    second = torch.autograd.grad(2 * loss, [features, weight, bias])
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one, other)


def test_a_weight_used_twice_gets_both_gradients() -> None:
    """Tied: the same matrix embeds the input and reads the output."""
    _, weight, _, targets = layer()
    ids = targets.flip(0)
    gradients = []
    for function in (linear_cross_entropy, linear_cross_entropy_reference):
        loss = function(F.embedding(ids, weight), weight, None, targets, 0.1).loss
        gradients.append(torch.autograd.grad(loss, weight)[0])
    torch.testing.assert_close(*gradients)


def test_the_mean_is_over_tokens_whatever_their_batches() -> None:
    features, weight, bias, targets = layer()
    whole = linear_cross_entropy(features, weight, bias, targets, 0.1)
    parts = [
        linear_cross_entropy(features[part], weight, bias, targets[part], 0.1).loss
        * len(targets[part])
        for part in (slice(0, 5), slice(5, 30), slice(30, None))
    ]
    torch.testing.assert_close(sum(parts) / TOKENS, whole.loss)


def test_no_logits_are_kept() -> None:
    """Nothing as large as [tokens, vocabulary] waits for the backward pass."""
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(200, 4, generator=generator, requires_grad=True)
    weight = torch.randn(300, 4, generator=generator, requires_grad=True)
    targets = torch.randint(0, 300, (200,), generator=generator)
    kept: list[int] = []

    def pack(tensor: Tensor) -> Tensor:
        kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        linear_cross_entropy(features, weight, None, targets, 0.1, rows=16)
    assert kept and max(kept) == weight.numel()


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([0, VOCABULARY], "targets must be in 0..10"),
        ([-1, 3], "targets must be in 0..10"),
        ([1], "2 rows of features and 1 targets"),
    ],
)
def test_wrong_targets_are_refused(targets: list[int], message: str) -> None:
    features, weight, bias, _ = layer()
    with pytest.raises(ValueError, match=message):
        linear_cross_entropy(features[:2], weight, bias, torch.tensor(targets))


def test_no_token_is_refused() -> None:
    features, weight, bias, targets = layer()
    with pytest.raises(ValueError, match="at least one"):
        linear_cross_entropy(features[:0], weight, bias, targets[:0])
