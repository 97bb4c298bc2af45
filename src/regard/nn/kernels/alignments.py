"""The forward algorithm over alignments, all in logarithms.

a_i is the source position that step i reads, and its distribution hangs on the one before. With the
emissions e_i(j) of the tokens that came (`regard.nn.kernels.emission`) and transitions t_i(k, j) =
log p(a_i = j | a_{i-1} = k, y_<i, x),

    prior      pi_i(j)  = log sum_k exp(phi_{i-1}(k) + t_i(k, j))    = log p(a_i = j | y_<i, x)
    posterior  phi_i(j) = pi_i(j) + e_i(j) - log sum_j' exp(...)     = log p(a_i = j | y_<=i, x)

phi_0 is a position that is known. Each is a distribution of its own, so nothing sinks with the
length, and the priors give log p(y_i | y_<i, x) = log sum_j exp(pi_i(j) + e_i(j)).

What cannot be has a logarithm of `IMPOSSIBLE`, which is 0 when raised, and not minus infinity,
whose differences are not numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

IMPOSSIBLE = -1e9


class Rule(Protocol):
    """How one position follows another, given some tensors: its parts, one of each every step."""

    def step(self, posterior: Float[Tensor, "batch positions"], *parts: Tensor) -> Tensor:
        """The next prior, ``[batch, positions]``, from the parts of that step."""

    def step_backward(
        self, to_prior: Tensor, prior: Tensor, posterior: Tensor, *parts: Tensor
    ) -> tuple[Tensor, ...]:
        """Gradients of the posterior and of every part, from that of the prior."""


@dataclass(frozen=True)
class NeverBackward:
    """p(j | k) = exp(s_j) / sum_{j' >= k} exp(s_j') for j >= k: scores, but no way back."""

    @staticmethod
    def parts(scores: Float[Tensor, "batch steps positions"]) -> tuple[Tensor, ...]:
        """Scores, and the logarithm of the sum from each k on."""
        return scores, scores.flip(-1).logcumsumexp(-1).flip(-1)

    def step(self, posterior: Float[Tensor, "batch positions"], *parts: Tensor) -> Tensor:
        """Score and sum part, so that one running sum does for all pairs of positions."""
        scores, rest = parts
        return (posterior - rest).logcumsumexp(-1).add_(scores)

    def step_backward(
        self, to_prior: Tensor, prior: Tensor, posterior: Tensor, *parts: Tensor
    ) -> tuple[Tensor, ...]:
        scores, rest = parts
        before, after = posterior - rest, prior - scores
        shares = (before[:, :, None] - after[:, None, :]).exp_().triu_()
        to_posterior = torch.bmm(shares, to_prior[:, :, None]).squeeze(2)
        return to_posterior, to_prior, -to_posterior


@dataclass(frozen=True)
class Jumping:
    """p(j | k) is that of a jump by j - k, from ``backward`` positions back to some ahead."""

    backward: int

    def parts(
        self, leaving: Float[Tensor, "batch steps positions jumps"]
    ) -> tuple[Float[Tensor, "batch steps positions jumps"]]:
        """Log-probabilities by where a jump lands, from those by where it leaves.

        ``leaving`` has jumps in their order, the farthest backward first; `IMPOSSIBLE` where one
        would leave the sentence. Where they land, the farthest forward comes first.
        """
        padded = pad(leaving.flip(-1), (0, 0, *self._around(leaving)), value=IMPOSSIBLE)
        return (padded.unfold(2, leaving.shape[-1], 1).diagonal(dim1=-2, dim2=-1),)

    def step(self, posterior: Float[Tensor, "batch positions"], *parts: Tensor) -> Tensor:
        (landing,) = parts
        return (landing + self._windows(posterior, landing)).logsumexp(-1)

    def step_backward(
        self, to_prior: Tensor, prior: Tensor, posterior: Tensor, *parts: Tensor
    ) -> tuple[Tensor, ...]:
        (landing,) = parts
        shares = landing + self._windows(posterior, landing) - prior[..., None]
        to_landing = shares.exp_().mul_(to_prior[..., None])
        # Each position adds up its column of windows: row j, moved right by j, is added to others.
        batch, positions, _ = landing.shape
        moved = pad(to_landing, (0, positions)).flatten(1)[:, :-positions]
        columns = moved.view(batch, positions, -1).sum(1)
        before, _ = self._around(landing)
        return columns[:, before : before + positions], to_landing

    def _around(self, jumps: Tensor) -> tuple[int, int]:
        """How many positions there must be before the first and after the last."""
        return jumps.shape[-1] - 1 - self.backward, self.backward

    def _windows(self, posterior: Tensor, landing: Tensor) -> Tensor:
        """The positions from which each can be reached, ``[batch, positions, jumps]``."""
        padded = pad(posterior, self._around(landing), value=IMPOSSIBLE)
        return padded.unfold(1, landing.shape[-1], 1)


def known_position(
    first: Float[Tensor, " batch"], positions: int, dtype: torch.dtype
) -> Float[Tensor, "batch positions"]:
    """phi_0: the logarithm of a distribution that is all on one position of each row."""
    start = torch.full((len(first), positions), IMPOSSIBLE, dtype=dtype, device=first.device)
    return start.scatter_(1, first[:, None], 0.0)


def posterior_of(
    prior: Float[Tensor, "*batch positions"], emissions: Float[Tensor, "*batch positions"]
) -> Float[Tensor, "*batch positions"]:
    """phi_i, once the token is known."""
    return torch.log_softmax(prior + emissions, dim=-1)


def forward_priors(
    rule: Rule,
    start: Float[Tensor, "batch positions"],
    emissions: Float[Tensor, "batch earlier positions"],
    parts: tuple[Tensor, ...],
) -> Float[Tensor, "batch steps positions"]:
    """pi_i of every step, after a posterior ``start``.

    ``emissions`` are those of all steps but the last.
    """
    priors: Tensor = _Priors.apply(rule, start, emissions, *parts)
    return priors


class _Priors(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rule: Rule, start: Tensor, emissions: Tensor, *parts: Tensor) -> Tensor:
        steps = parts[0].shape[1]
        priors = start.new_empty(steps, *start.shape)
        posteriors = torch.empty_like(priors)
        for i, of_step in enumerate(zip(*(part.unbind(1) for part in parts), strict=True)):
            if i:
                posteriors[i] = posterior_of(priors[i - 1], emissions[:, i - 1])
            else:
                posteriors[i] = start
            priors[i] = rule.step(posteriors[i], *of_step)
        ctx.rule = rule
        ctx.save_for_backward(priors, posteriors, *parts)
        return priors.transpose(0, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_priors: Tensor) -> tuple[Tensor | None, ...]:
        priors, posteriors, *parts = ctx.saved_tensors
        steps, batch, positions = priors.shape
        to_emissions = priors.new_empty(batch, steps - 1, positions)
        to_parts = [torch.empty_like(part) for part in parts]
        read = posteriors.exp()
        to_prior = to_priors[:, -1]
        for i in range(steps - 1, -1, -1):
            of_step = (part[:, i] for part in parts)
            to_posterior, *found = ctx.rule.step_backward(
                to_prior, priors[i], posteriors[i], *of_step
            )
            for gradient, one in zip(to_parts, found, strict=True):
                gradient[:, i] = one
            if i:
                total = to_posterior.sum(-1, keepdim=True)
                to_joint = to_posterior.addcmul_(read[i], total, value=-1.0)
                to_emissions[:, i - 1] = to_joint
                to_prior = to_priors[:, i - 1] + to_joint
        return (None, to_posterior, to_emissions, *to_parts)
