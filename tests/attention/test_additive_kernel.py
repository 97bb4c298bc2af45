"""The factored additive kernel against the plain expression."""

import pytest
import torch
from torch import Tensor

from regard.attention import additive_scores
from regard.attention.kernels import additive as kernel
from regard.attention.kernels.additive import LARGEST, exponentials, factored_additive_scores

LIMITS = {torch.float32: 1e-6, torch.float64: 1e-12}
types = pytest.mark.parametrize("dtype", LIMITS, ids=["float32", "float64"])
derived_or_not = pytest.mark.parametrize("kept", [True, False], ids=["factored", "sigmoid"])


def tensors(dtype: torch.dtype, scale: float = 1.0, size: int = 7) -> tuple[Tensor, Tensor, Tensor]:
    """Query [2, 3, 4, size], key [2, 3, 5, size], v_a [3, size] of sum |v| = 1 a head."""
    q = scale * torch.randn(2, 3, 4, size, dtype=dtype)
    k = scale * torch.randn(2, 3, 5, size, dtype=dtype)
    v_a = torch.randn(3, size, dtype=dtype)
    return q, k, v_a / v_a.abs().sum(-1, keepdim=True)


@types
@derived_or_not
@pytest.mark.parametrize("scale", [0.01, 1.0, 5.0, 12.0])
def test_scores(dtype: torch.dtype, kept: bool, scale: float) -> None:
    q, k, v_a = tensors(dtype, scale)
    derived = exponentials(k) if kept else ()
    assert bool(derived) == (kept and float(k.abs().max()) <= LARGEST)
    found = factored_additive_scores(q, k, v_a, derived)
    assert found.dtype == dtype
    assert (found - additive_scores(q, k, v_a)).abs().max() < LIMITS[dtype]


@types
@pytest.mark.parametrize("largest", [39.9, 40.1, 88.0, 200.0])
def test_big_numbers(dtype: torch.dtype, largest: float) -> None:
    """Sums up to 400 in size, and big ones that cancel; no infinity, no NaN, also backward."""
    q, k, v_a = tensors(dtype)
    for tensor in (q, k):
        tensor.mul_(largest / tensor.abs().amax())
    k[:, :, 0] = -q[:, :, 0] + 0.5
    k.clamp_(-largest, largest)
    inputs = [tensor.requires_grad_() for tensor in (q, k, v_a)]
    found = factored_additive_scores(*inputs, exponentials(k))
    expected = additive_scores(*inputs)
    # A sum that cancels keeps the absolute error of its terms' rounding, on both sides.
    limit = LIMITS[dtype] * max(1.0, largest / 40)
    assert found.isfinite().all()
    assert (found - expected).abs().max() < limit
    outward = torch.randn_like(found)
    for one, other in zip(
        torch.autograd.grad(found, inputs, outward),
        torch.autograd.grad(expected, inputs, outward),
        strict=True,
    ):
        assert one.isfinite().all()
        assert (one - other).abs().max() < 20 * limit


@types
def test_only_the_query_is_big(dtype: torch.dtype) -> None:
    q, k, v_a = tensors(dtype)
    q = q * 150
    derived = exponentials(k)
    assert derived
    found = factored_additive_scores(q, k, v_a, derived)
    assert (found - additive_scores(q, k, v_a)).abs().max() < 10 * LIMITS[dtype]


@pytest.mark.parametrize("elements", [1, 60, 1 << 18])
@pytest.mark.parametrize("heads", [1, 3])
def test_scores_in_tiles(elements: int, heads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a gradient, of one head and of several."""
    monkeypatch.setattr(kernel, "TILE_ELEMENTS", elements)
    q, k, v_a = tensors(torch.float64)
    q, k, v_a = q[:, :heads], k[:, :heads], v_a[:heads].requires_grad_()
    expected = additive_scores(q, k, v_a)
    found = factored_additive_scores(q, k, v_a, exponentials(k))
    assert (found - expected).abs().max() < 1e-12
    with torch.no_grad():
        assert torch.equal(factored_additive_scores(q, k, v_a, exponentials(k)), found)


@types
@derived_or_not
@pytest.mark.parametrize("elements", [1, 60, 1 << 18])
def test_gradients(
    dtype: torch.dtype, kept: bool, elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the size of a tile, down to one query and one position."""
    monkeypatch.setattr(kernel, "TILE_ELEMENTS", elements)
    q, k, v_a = (tensor.requires_grad_() for tensor in tensors(dtype))
    found = factored_additive_scores(q, k, v_a, exponentials(k) if kept else ())
    expected = additive_scores(q, k, v_a)
    assert (found - expected).abs().max() < LIMITS[dtype]
    outward = torch.randn_like(found)
    for one, other in zip(
        torch.autograd.grad(found, (q, k, v_a), outward),
        torch.autograd.grad(expected, (q, k, v_a), outward),
        strict=True,
    ):
        assert (one - other).abs().max() < 10 * LIMITS[dtype]


@derived_or_not
def test_gradients_by_numbers(kept: bool) -> None:
    inputs = [tensor.requires_grad_() for tensor in tensors(torch.float64, size=2)]

    def scores(q: Tensor, k: Tensor, v_a: Tensor) -> Tensor:
        return factored_additive_scores(q, k, v_a, exponentials(k) if kept else ())

    assert torch.autograd.gradcheck(scores, inputs)
    assert torch.autograd.gradgradcheck(scores, inputs)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_an_input_without_gradient(missing: int) -> None:
    inputs = [tensor.requires_grad_() for tensor in tensors(torch.float64)]
    inputs[missing].requires_grad_(False)
    wanted = [tensor for tensor in inputs if tensor.requires_grad]
    found = factored_additive_scores(*inputs, exponentials(inputs[1])).square().sum()
    expected = additive_scores(*inputs).square().sum()
    for one, other in zip(
        torch.autograd.grad(found, wanted), torch.autograd.grad(expected, wanted), strict=True
    ):
        assert torch.allclose(one, other, atol=1e-12)


@derived_or_not
def test_nothing_big_is_kept_for_backward(kept: bool) -> None:
    """No saved tensor has a number for every (query, position, size)."""
    q, k, v_a = (tensor.requires_grad_() for tensor in tensors(torch.float32))
    derived = exponentials(k) if kept else ()
    saved: list[int] = []

    def pack(tensor: Tensor) -> Tensor:
        saved.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        scores = factored_additive_scores(q, k, v_a, derived)
        plain = additive_scores(q, k, v_a)
    big = 2 * 3 * 4 * 5 * 7
    assert saved.count(big) >= 1  # the plain one does keep it
    saved.clear()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        factored_additive_scores(q, k, v_a, derived)
    assert saved and max(saved) < big
    assert scores.shape == plain.shape


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves(dtype: torch.dtype) -> None:
    q, k, v_a = tensors(dtype)
    assert exponentials(k) == ()
    found = factored_additive_scores(q, k, v_a)
    assert found.dtype == dtype
    exact = additive_scores(q.double(), k.double(), v_a.double())
    assert (found.double() - exact).abs().max() < 8 * torch.finfo(dtype).eps


def test_autocast_leaves_full_precision_alone() -> None:
    q, k, v_a = (tensor.requires_grad_() for tensor in tensors(torch.float32))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = factored_additive_scores(q, k, v_a, exponentials(k))
        with torch.no_grad():
            assert torch.equal(factored_additive_scores(q, k, v_a, exponentials(k)), found)
    assert found.dtype == torch.float32
    assert (found - additive_scores(q, k, v_a)).abs().max() < 1e-6


def test_exponentials_in_less_precision_than_the_query_are_not_used() -> None:
    q, k, v_a = tensors(torch.float64)
    k = k.float()
    found = factored_additive_scores(q, k, v_a, exponentials(k))
    assert found.dtype == torch.float64
    assert (found - additive_scores(q, k.double(), v_a)).abs().max() < 1e-12


@pytest.mark.parametrize(("queries", "positions"), [(0, 5), (4, 0), (1, 1)])
def test_empty_and_smallest(queries: int, positions: int) -> None:
    q, k, v_a = (tensor.requires_grad_() for tensor in tensors(torch.float64))
    q, k = q[:, :, :queries], k[:, :, :positions]
    found = factored_additive_scores(q, k, v_a, exponentials(k))
    assert found.shape == (2, 3, queries, positions)
    assert torch.allclose(found, additive_scores(q, k, v_a), atol=1e-12)
    found.sum().backward()
    assert v_a.grad is not None and v_a.grad.isfinite().all()


def test_not_a_number_is_never_hidden() -> None:
    """NaN in a key that is attended stays NaN: nothing may turn it into a weight."""
    q, k, v_a = tensors(torch.float32)
    k[0, 0, 0, 0] = torch.nan
    assert exponentials(k) == ()
    found = factored_additive_scores(q, k, v_a, exponentials(k))
    assert found[0, 0, :, 0].isnan().all()
    assert found[0, 0, :, 1:].isfinite().all()
