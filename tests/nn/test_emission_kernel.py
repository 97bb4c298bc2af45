"""The emission kernels against the whole table, and what they do without it."""

import pytest
import torch
from torch import Tensor

from regard.nn.kernels import emission_table
from regard.nn.kernels.emission import (
    EmissionSource,
    chosen_emissions,
    emissions_of,
    mixed_emissions,
)

BATCH, STEPS, POSITIONS, SIZE, VOCABULARY = 3, 4, 5, 6, 7
LIMITS = {torch.float32: 2e-5, torch.float64: 1e-12}
both_types = pytest.mark.parametrize("dtype", LIMITS, ids=["float32", "float64"])
#: Numbers in a tile: all at once, some, one pair at a time.
every_tile = pytest.mark.parametrize("tile", [1 << 19, 60, 1])
#: Small numbers; logits that need a shift; numbers whose exponentials overflow.
every_scale = pytest.mark.parametrize("scale", [1.0, 30.0, 100.0])


def inputs(dtype: torch.dtype, scale: float = 1.0) -> tuple[list[Tensor], Tensor]:
    """States, source, weight, bias, and a token a step."""
    shapes = (BATCH, STEPS, SIZE), (BATCH, POSITIONS, SIZE), (VOCABULARY, SIZE), (VOCABULARY,)
    found = [scale * torch.randn(shape, dtype=dtype) for shape in shapes]
    return [one.requires_grad_() for one in found], torch.randint(VOCABULARY, (BATCH, STEPS))


def table(states: Tensor, source: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """log e_ij of every symbol, as it is written."""
    hidden = torch.tanh(states[:, :, None] + source[:, None])
    return torch.log_softmax(hidden @ weight.t() + bias, dim=-1)


def of_tokens(whole: Tensor, tokens: Tensor) -> Tensor:
    ids = tokens[:, :, None, None].expand(-1, -1, POSITIONS, 1)
    return whole.gather(3, ids).squeeze(3)


def chosen(given: list[Tensor], tokens: Tensor) -> Tensor:
    states, part, *output = given
    return chosen_emissions(states, EmissionSource.of(part), *output, tokens)[0]


def same(found: Tensor, expected: Tensor) -> bool:
    limit = LIMITS[found.dtype] * (1 + expected.abs().max())
    return bool(found.isfinite().all() and (found - expected).abs().max() < limit)


@both_types
@every_tile
@every_scale
def test_chosen(
    dtype: torch.dtype, tile: int, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emission_table, "TILE_ELEMENTS", tile)
    given, tokens = inputs(dtype, scale)
    states, part, *weights = given
    source = EmissionSource.of(part)
    found, normalizer = chosen_emissions(states, source, *weights, tokens)
    expected = of_tokens(table(*given), tokens)
    assert same(found, expected) and not normalizer.requires_grad
    outward = torch.randn_like(found)
    gradients = torch.autograd.grad((found * outward).sum(), given)
    for one, other in zip(
        gradients, torch.autograd.grad((expected * outward).sum(), given), strict=True
    ):
        assert same(one, other)
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            again = emissions_of(tokens[:, 1], states[:, 1], source, *weights, normalizer[:, 1])
        assert same(again, expected[:, 1]) and again.requires_grad == grad


@both_types
@every_tile
@every_scale
def test_mixed(
    dtype: torch.dtype, tile: int, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emission_table, "TILE_ELEMENTS", tile)
    given, _ = inputs(dtype, scale)
    scores = torch.randn(BATCH, STEPS, POSITIONS, dtype=dtype, requires_grad=True)
    results = []
    for by_kernel in (True, False):
        weights = torch.log_softmax(scores, dim=-1)
        if by_kernel:
            states, part, *output = given
            source = EmissionSource.of(part)
            mixed, normalizer = mixed_emissions(weights, states, source, *output)
            assert not normalizer.requires_grad
        else:
            mixed = (weights[..., None] + table(*given)).logsumexp(2)
        outward = torch.linspace(-1, 1, mixed.numel(), dtype=dtype).view_as(mixed)
        gradients = torch.autograd.grad((mixed * outward).sum(), [scores, *given])
        results.append([mixed, *gradients])
    for one, other in zip(*results, strict=True):
        assert same(one, other)


def test_what_is_nothing_beside_the_rest_is_passed_over() -> None:
    """Gradients are those of all pairs to rounding, though most pairs have next to none."""
    given, tokens = inputs(torch.float64)
    outward = torch.full((BATCH, STEPS, POSITIONS), 1e-18, dtype=torch.float64)
    outward[:, :, 2] = 1.0
    found = torch.autograd.grad((chosen(given, tokens) * outward).sum(), given)
    expected = of_tokens(table(*given), tokens) * outward
    for one, other in zip(found, torch.autograd.grad(expected.sum(), given), strict=True):
        assert same(one, other)
    assert (found[1][:, [0, 1, 3, 4]] == 0).all() and (found[1][:, 2] != 0).all()


def test_no_gradient_at_all() -> None:
    given, tokens = inputs(torch.float32)
    found = chosen(given, tokens)
    gradients = torch.autograd.grad((found * 0.0).sum(), given)
    assert all((gradient == 0).all() for gradient in gradients)
