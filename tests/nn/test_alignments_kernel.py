"""The forward algorithm against sums over pairs of positions, written out through autograd."""

import pytest
import torch
from torch import Tensor

from regard.nn.kernels.alignments import (
    IMPOSSIBLE,
    Jumping,
    NeverBackward,
    Rule,
    forward_priors,
    known_position,
    posterior_of,
)

BATCH, STEPS, POSITIONS = 3, 4, 6
#: Real positions of each row; the last one begins with padding.
REAL = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0], [0, 1, 1, 1, 1, 0]]).bool()
PAIRS = REAL[:, :, None] & REAL[:, None, :]
FORWARD = torch.ones(POSITIONS, POSITIONS).triu().bool()
JUMPINGS = {"forward": (0, 3), "both ways": (2, 5), "backward": (2, 3), "stay": (0, 1)}


def start() -> Tensor:
    return known_position(REAL.long().argmax(1), POSITIONS, torch.float64)


def written_out(moves: Tensor, emissions: Tensor) -> Tensor:
    """Priors as probabilities, from p(j | k) ``[batch, steps, k, j]`` and log e_i."""
    posterior = start().exp()
    rows = []
    for i in range(STEPS):
        prior = (posterior[:, :, None] * moves[:, i]).sum(1)
        rows.append(prior)
        if i < STEPS - 1:
            joint = prior * emissions[:, i].exp()
            posterior = joint / joint.sum(-1, keepdim=True)
    return torch.stack(rows, dim=1)


def agree(rule: Rule, parts: tuple[Tensor, ...], moves: Tensor, leaves: list[Tensor]) -> None:
    """Priors, and gradients of what is made of them; nothing is on positions that are none."""
    emissions = leaves[-1]
    log_priors = forward_priors(rule, start(), emissions, parts)
    expected = written_out(moves, emissions)
    assert (log_priors.exp() - expected).abs().max() < 1e-12
    assert (log_priors.exp().sum(-1) - 1).abs().max() < 1e-12
    assert (log_priors.exp()[~REAL[:, None].expand_as(expected)] == 0).all()
    outward = torch.randn_like(expected)
    both = [
        torch.autograd.grad((priors * outward).sum(), leaves, retain_graph=True)
        for priors in (log_priors.exp(), expected)
    ]
    for one, other in zip(*both, strict=True):
        assert one.isfinite().all() and (one - other).abs().max() < 1e-11


def leaves(*shape: int) -> list[Tensor]:
    """Free numbers of every step, and emissions of all steps but the last."""
    free = torch.randn(BATCH, STEPS, POSITIONS, *shape, dtype=torch.float64)
    emissions = torch.randn(BATCH, STEPS - 1, POSITIONS, dtype=torch.float64) - 2.0
    return [free.requires_grad_(), emissions.requires_grad_()]


def test_never_backward() -> None:
    given = leaves()
    scores = torch.where(REAL[:, None], given[0], IMPOSSIBLE)
    rows = given[0][:, :, None, :].masked_fill(~(PAIRS & FORWARD)[:, None], -torch.inf)
    moves = torch.where(REAL[:, None, :, None], rows.softmax(-1), 0.0).nan_to_num()
    agree(NeverBackward(), NeverBackward.parts(scores), moves, given)


@pytest.mark.parametrize(("backward", "jumps"), JUMPINGS.values(), ids=list(JUMPINGS))
def test_jumping(backward: int, jumps: int) -> None:
    """Jumps out of the sentence, or onto padding, are as if they were not there."""
    given = leaves(jumps)
    lands = torch.arange(POSITIONS)[:, None] + torch.arange(jumps) - backward
    inside = (lands >= 0) & (lands < POSITIONS)
    onto = (REAL[:, lands.clamp(0, POSITIONS - 1)] & inside & REAL[..., None])[:, None]
    rows = torch.where(onto, given[0], IMPOSSIBLE).log_softmax(-1)
    leaving = torch.where(onto, rows, IMPOSSIBLE)
    where = (lands[..., None] == torch.arange(POSITIONS)).double()
    moves = torch.einsum("btkc,kcj->btkj", leaving.exp(), where)
    rule = Jumping(backward)
    agree(rule, rule.parts(leaving), moves, given)


def test_far_apart_numbers_stay_numbers() -> None:
    """A thousand steps of single precision, emissions of e^-200 against e^0."""
    scores = 50.0 * torch.randn(2, 1000, 8)
    emissions = torch.where(torch.rand(2, 999, 8) < 0.5, -200.0, 0.0)
    scores.requires_grad_()
    emissions.requires_grad_()
    known = known_position(torch.zeros(2, dtype=torch.long), 8, torch.float32)
    normal = scores.log_softmax(-1)
    priors = forward_priors(NeverBackward(), known, emissions, NeverBackward.parts(normal))
    assert (priors.exp().sum(-1) - 1).abs().max() < 1e-4
    (priors[:, :-1] + emissions).logsumexp(-1).sum().backward()
    assert scores.grad.isfinite().all() and emissions.grad.isfinite().all()


def test_a_posterior_is_a_distribution() -> None:
    prior = torch.randn(2, 5).log_softmax(-1)
    found = posterior_of(prior, torch.tensor([0.0, -1.0, -2.0, -3.0, -300.0]))
    assert torch.allclose(found.exp().sum(-1), torch.ones(2))
