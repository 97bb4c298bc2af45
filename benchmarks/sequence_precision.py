"""Probabilities of sequences in float32: multiplied, and as sums of logarithms."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import masked_log_softmax


@dataclass(frozen=True)
class Precision:
    """What became of the probabilities of sequences of one length; shares are from 0 to 1.

    logarithm: mean of the true natural logarithm of a sequence's probability.
    zero: share of sequences whose product is 0 in float32.
    subnormal: share whose product is not 0 but below the smallest normal number: digits are lost.
    product_error: largest error of the logarithm of a product that is neither, against float64, in
        nats, which is the relative error of the product; None where all are lost.
    sum_error: largest error of a sum of logarithms, against float64, in nats.
    product_gradient, sum_gradient: share of sequences for which d ln p / d p_i comes out finite and
        right to 1 in 1,000 at every step, through the product and through the sum.
    """

    steps: int
    logarithm: float
    zero: float
    subnormal: float
    product_error: float | None
    sum_error: float
    product_gradient: float
    sum_gradient: float


def draw_probabilities(
    sequences: int, steps: int, perplexity: float, seed: int
) -> Float[Tensor, "sequences steps"]:
    """Probabilities that a model of that perplexity might give: -ln p is exponential.

    In float32, none of them 0.
    """
    generator = torch.Generator().manual_seed(seed)
    surprise = torch.empty(sequences, steps, dtype=torch.float64)
    surprise.exponential_(1 / math.log(perplexity), generator=generator)
    return torch.exp(-surprise).float().clamp(min=torch.finfo(torch.float32).tiny)


def measure_precision(probabilities: Float[Tensor, "sequences steps"]) -> Precision:
    """Products and sums of the same float32 numbers, against float64."""
    true = probabilities.double().log().sum(1)
    product, through_product = _gradient(probabilities, torch.prod)
    logarithm, through_sum = _gradient(probabilities, lambda row, dim: row.log().sum(dim))
    tiny = torch.finfo(torch.float32).tiny
    normal = product >= tiny
    error = None
    if normal.any():
        error = (product[normal].double().log() - true[normal]).abs().max().item()
    return Precision(
        steps=probabilities.shape[1],
        logarithm=true.mean().item(),
        zero=(product == 0).double().mean().item(),
        subnormal=((product > 0) & ~normal).double().mean().item(),
        product_error=error,
        sum_error=(logarithm.double() - true).abs().max().item(),
        product_gradient=_right(through_product, probabilities),
        sum_gradient=_right(through_sum, probabilities),
    )


@dataclass(frozen=True)
class Fall:
    """The product of equal probabilities, step by step.

    subnormal: the first step at which it is below the smallest normal number.
    zero: the first step at which it is 0; None where it never is: rounding holds it at the smallest
        number there is.
    """

    probability: float
    subnormal: int
    zero: int | None


def measure_fall(probability: float) -> Fall:
    """Multiply float32 numbers until nothing changes any more."""
    product, factor = torch.tensor(1.0), torch.tensor(probability)
    steps, subnormal = 0, 0
    while product > 0:
        before, product, steps = product, product * factor, steps + 1
        if product == before:
            return Fall(probability, subnormal, None)
        if not subnormal and product < torch.finfo(torch.float32).tiny:
            subnormal = steps
    return Fall(probability, subnormal, steps)


@dataclass(frozen=True)
class Tail:
    """Two logits, (0, margin): the log-probability of the first, and its gradient to the logits.

    true: the logarithm in float64.
    Each way to the logarithm gives a value and the gradient to the first logit (right: close to 1).
    """

    margin: float
    true: float
    log_of_softmax: float
    log_of_softmax_gradient: float
    log_softmax: float
    log_softmax_gradient: float


def measure_tail(margin: float) -> Tail:
    """float32 throughout, but for the true value."""
    found = []
    for way in (lambda logits: torch.softmax(logits, -1).log(), masked_log_softmax):
        logits = torch.tensor([0.0, margin], requires_grad=True)
        logarithm = way(logits)[0]
        (gradient,) = torch.autograd.grad(logarithm, logits)
        found += [logarithm.item(), gradient[0].item()]
    exact = torch.log_softmax(torch.tensor([0.0, margin], dtype=torch.float64), -1)[0].item()
    return Tail(margin, exact, *found)


def _gradient(probabilities: Tensor, combine) -> tuple[Tensor, Tensor]:  # type: ignore[no-untyped-def]
    """The combined number, and d ln p / d p_i through it."""
    leaves = probabilities.clone().requires_grad_()
    combined = combine(leaves, dim=1)
    logarithm = combined.log() if combine is torch.prod else combined
    (gradient,) = torch.autograd.grad(logarithm.sum(), leaves)
    return combined.detach(), gradient


def _right(gradient: Tensor, probabilities: Tensor) -> float:
    """Share of rows where it is 1 / p_i."""
    error = (gradient.double() * probabilities.double() - 1).abs()
    return (error < 1e-3).all(1).double().mean().item()
