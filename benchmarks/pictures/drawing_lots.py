"""Hard attention: how near its gradient comes to the exact one, by how many samples are drawn."""

from typing import NamedTuple

import torch
from torch import Tensor

from pictures.charts import chart
from regard.attention import Attention
from regard.views.palette import MUTED

_SAMPLES = (1, 4, 16, 64, 256, 1024)
_TRIALS = 64


class Problem(NamedTuple):
    """One query over six positions; ``log p(y | l)`` is the first number of the drawn value."""

    attention: Attention
    query: Tensor
    key: Tensor
    value: Tensor


def hard_attention() -> str:
    """Error of the estimate of the score gradient, without a baseline and with one."""
    problem = make_problem()
    exact = exact_gradient(problem)
    generator = torch.Generator().manual_seed(1)
    with chart(width=6.5, height=3.2) as made:
        (axes,) = made.axes
        for baseline, name in ((0.0, "no baseline"), (mean_reward(problem), "baseline b = mean")):
            errors = []
            for samples in _SAMPLES:
                found = torch.stack(
                    [estimate(problem, samples, baseline, generator) for _ in range(_TRIALS)]
                )
                error = (found - exact).square().sum(1).mean().sqrt() / exact.norm()
                errors.append(error.item())
            axes.plot(_SAMPLES, errors, "o-", markersize=4, label=name)
        axes.axhline(1, color=MUTED, linewidth=0.8, linestyle=":")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(_SAMPLES, [str(samples) for samples in _SAMPLES])
        axes.set_xlabel("samples")
        axes.set_ylabel("relative error of the gradient")
        axes.legend()
    return made.svg


def make_problem() -> Problem:
    generator = torch.Generator().manual_seed(1)
    query = torch.randn(1, 1, 8, generator=generator)
    key = torch.randn(1, 6, 8, generator=generator)
    value = -3.0 + torch.randn(1, 6, 1, generator=generator)
    return Problem(Attention(8, 8, 1, score="scaled_dot", select="hard"), query, key, value)


def exact_gradient(problem: Problem) -> Tensor:
    """d/dq of ``sum_l alpha_l log p(y | l)``, every position counted."""
    query = problem.query.clone().requires_grad_()
    weights = problem.attention.eval()(query, problem.key, problem.value, need_weights=True).weights
    assert weights is not None
    expected = (weights[0, 0, 0] * problem.value[0, :, 0]).sum()
    return torch.autograd.grad(expected, query)[0].flatten()


def mean_reward(problem: Problem) -> float:
    """What a running mean of ``log p(y | l)`` comes to."""
    drawn = problem.attention.sample(problem.query, problem.key, problem.value)
    return (drawn.weights[0, 0, 0] * problem.value[0, :, 0]).sum().item()


def estimate(problem: Problem, samples: int, baseline: float, generator: torch.Generator) -> Tensor:
    """REINFORCE: the mean of ``(log p(y | l) - b) d log alpha_l / dq`` over drawn positions."""
    query = problem.query.clone().requires_grad_()
    drawn = problem.attention.sample(
        query.expand(samples, -1, -1),
        problem.key.expand(samples, -1, -1),
        problem.value.expand(samples, -1, -1),
        generator=generator,
    )
    reward = drawn.context[:, 0, 0].detach() - baseline
    expected = (reward * drawn.log_probability[:, 0, 0]).mean()
    return torch.autograd.grad(expected, query)[0].flatten()
