"""The loss: label-smoothed cross entropy of an output layer, without ever keeping its logits.

For features x (one row per real target token), weight W, bias b and targets y, over V symbols:

    logits   z = x W^T + b                    p = softmax(z)
    nll      n = -log p[y]
    smoothed l = (1 - s) n + s / V * sum_v -log p[v]        s spread evenly over all V symbols

which is the form of Szegedy et al. 2016, section 7 (and of `torch.nn.functional.cross_entropy`).
Both are returned as means over tokens, so padding and the shape of a batch cannot change them.

The logits of a batch are the largest tensor of a small translation model (4,096 tokens by 8,000
symbols are 131 MB), and writing them, their softmax and their gradient costs more than it should.
Here a few hundred tokens are taken at a time, and their gradient follows at once in the same
buffer, where each token is a column: matrix products are fastest so. With m a shift per token and
e = exp(z - m), c = sum_v e, the buffer goes through z, e and

    c dl/dz = e - (1 - s) c onehot(y)                without the constant - s / V

Never divided by c itself: tokens are, after the product that makes dl/dx and before the one that
makes dl/dW. The constant s / V is the same for every symbol, so it never enters the buffer either:
its part of dl/dx is one row, and its part of dl/dW is one outer product, the same for every symbol.
The shift is the token's largest logit, or 0 where all logits are known to be small, which saves
looking for the largest.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.training.loss_chunks import Chunked, Gradients, over_chunks, rows_in_a_chunk


class Loss(NamedTuple):
    """loss: the smoothed mean, to be minimized; negative_log_likelihood: the plain mean, in nats.

    Both are 0-dimensional; only the first carries a gradient. Perplexity is the exponential of the
    second.
    """

    loss: Float[Tensor, ""]
    negative_log_likelihood: Float[Tensor, ""]

    def plus(self, penalty: Float[Tensor, ""]) -> "Loss":
        """With something else to be minimized too."""
        return self._replace(loss=self.loss + penalty)


def linear_cross_entropy(
    features: Float[Tensor, "tokens size"],
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, "vocabulary"] | None,
    targets: Int[Tensor, "tokens"],
    smoothing: float = 0.0,
    rows: int | None = None,
) -> Loss:
    """The mean loss of `targets` under an output layer, in chunks of `rows` tokens.

    Gradients are made in the forward pass and scaled in the backward pass; they cannot be
    differentiated again. `rows=None` chooses by the size of the vocabulary. Raises ValueError when
    there is no token or a target is outside the vocabulary.
    """
    check_targets(targets, features.shape[0], weight.shape[0])
    rows = rows or rows_in_a_chunk(weight.shape[0])
    over = partial(over_chunks, targets=targets, rows=rows)
    return in_chunks(over, features, weight, bias, smoothing)


def check_targets(targets: Tensor, rows: int, vocabulary: int) -> None:
    """Raises ValueError unless there is a target in the vocabulary for each row of features."""
    if rows == 0 or rows != targets.shape[0]:
        raise ValueError(
            f"{rows} rows of features and {targets.shape[0]} targets; "
            "there must be as many, and at least one"
        )
    lowest, highest = targets.aminmax()
    if int(lowest) < 0 or int(highest) >= vocabulary:
        raise ValueError(f"targets must be in 0..{vocabulary - 1}, got {lowest}..{highest}")


def in_chunks(
    over: Callable[..., Chunked],
    features: Float[Tensor, "tokens size"],
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, "vocabulary"] | None,
    smoothing: float,
) -> Loss:
    """The mean loss that `over` finds chunk by chunk, with gradients made on the way."""
    wanted = torch.is_grad_enabled() and any(
        tensor is not None and tensor.requires_grad for tensor in (features, weight, bias)
    )
    return Loss(*_LinearCrossEntropy.apply(features, weight, bias, smoothing, wanted, over))


def linear_cross_entropy_reference(
    features: Float[Tensor, "tokens size"],
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, "vocabulary"] | None,
    targets: Int[Tensor, "tokens"],
    smoothing: float = 0.0,
) -> Loss:
    """The same as `linear_cross_entropy`, written as the formulas are, with all logits kept."""
    log_probabilities = torch.nn.functional.linear(features, weight, bias).log_softmax(dim=-1)
    plain = -log_probabilities.gather(1, targets[:, None]).squeeze(1)
    spread = -log_probabilities.mean(dim=1)
    loss = (1 - smoothing) * plain + smoothing * spread
    return Loss(loss.mean(), plain.mean().detach())


class _LinearCrossEntropy(torch.autograd.Function):
    """Forward: both means, and the gradients of the first. Backward: those gradients, scaled."""

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        smoothing: float,
        wanted: bool,
        over: Callable[..., Chunked],
    ) -> tuple[Tensor, Tensor]:
        gradients = Gradients(features, weight, bias, smoothing) if wanted else None
        found = over(features, weight, bias, gradients)
        plain = found.negative.mean()
        loss = (1 - smoothing) * plain
        if smoothing:  # the mean over symbols of -log p[v] is log sum exp z - mean z
            normalizer = plain + found.chosen.mean()
            loss += smoothing * (normalizer - _mean_logit(features, weight, bias))
        if found.penalty is not None:
            loss += found.penalty
        if gradients is not None:
            gradients.finish(features, weight)
            ctx.save_for_backward(gradients.features, gradients.weight, gradients.bias)
        ctx.mark_non_differentiable(plain)
        return loss, plain

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor, _plain: Tensor) -> tuple[Tensor | None, ...]:
        features, weight, bias = ctx.saved_tensors
        scaled = (
            features * scale if ctx.needs_input_grad[0] else None,
            weight * scale if ctx.needs_input_grad[1] else None,
            bias * scale if bias is not None and ctx.needs_input_grad[2] else None,
        )
        return (*scaled, None, None, None)


def _mean_logit(features: Tensor, weight: Tensor, bias: Tensor | None) -> Float[Tensor, ""]:
    """The mean of all logits, which needs none of them: that of x times that of W, plus of b."""
    mean = features.mean(dim=0) @ weight.mean(dim=0)
    return mean if bias is None else mean + bias.mean()
