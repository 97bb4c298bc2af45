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

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

#: Elements of the logits buffer: 16 MB of float32, near the size of a last-level cache.
BUFFER_ELEMENTS = 1 << 22
#: Logits up to this size need no shift: far from what a float's exponent can hold (87).
SMALL = 60.0


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
    vocabulary = weight.shape[0]
    if features.shape[0] == 0 or features.shape[0] != targets.shape[0]:
        raise ValueError(
            f"{features.shape[0]} rows of features and {targets.shape[0]} targets; "
            "there must be as many, and at least one"
        )
    lowest, highest = targets.aminmax()
    if int(lowest) < 0 or int(highest) >= vocabulary:
        raise ValueError(f"targets must be in 0..{vocabulary - 1}, got {lowest}..{highest}")
    rows = rows or max(64, min(4096, BUFFER_ELEMENTS // vocabulary))
    wanted = torch.is_grad_enabled() and any(
        tensor is not None and tensor.requires_grad for tensor in (features, weight, bias)
    )
    return Loss(
        *_LinearCrossEntropy.apply(features, weight, bias, targets, smoothing, rows, wanted)
    )


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
        targets: Tensor,
        smoothing: float,
        rows: int,
        wanted: bool,
    ) -> tuple[Tensor, Tensor]:
        gradients = _Gradients(features, weight, bias, smoothing) if wanted else None
        negative, chosen = _over_chunks(features, weight, bias, targets, rows, gradients)
        plain = negative.mean()
        loss = (1 - smoothing) * plain
        if smoothing:  # the mean over symbols of -log p[v] is log sum exp z - mean z
            normalizer = plain + chosen.mean()
            loss += smoothing * (normalizer - _mean_logit(features, weight, bias))
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
        return (*scaled, None, None, None, None)


class _Gradients:
    """What is summed over the chunks: gradients of the mean smoothed loss, still without s / V."""

    def __init__(
        self, features: Tensor, weight: Tensor, bias: Tensor | None, smoothing: float
    ) -> None:
        self.smoothing = smoothing
        self.features = torch.empty_like(features, memory_format=torch.contiguous_format)
        self.weight = torch.zeros_like(weight, memory_format=torch.contiguous_format)
        self.bias = None if bias is None else torch.zeros_like(bias)

    def add(
        self, chunk: slice, features: Tensor, weight: Tensor, wrong: Tensor, sums: Tensor
    ) -> None:
        """`wrong`: softmax minus (1 - s) at the targets, times `sums`; [vocabulary, rows]."""
        inverse = sums.reciprocal()
        torch.mm(wrong.t(), weight, out=self.features[chunk]).mul_(inverse[:, None])
        self.weight.addmm_(wrong, features * inverse[:, None])
        if self.bias is not None:
            self.bias.addmv_(wrong, inverse)

    def finish(self, features: Tensor, weight: Tensor) -> None:
        """Take away the even share of every symbol, and turn sums over tokens into means."""
        tokens, share = features.shape[0], self.smoothing / weight.shape[0]
        if share:
            self.features.sub_(weight.sum(dim=0), alpha=share)
            self.weight.sub_(features.sum(dim=0), alpha=share)
            if self.bias is not None:
                self.bias -= share * tokens
        for gradient in (self.features, self.weight, self.bias):
            if gradient is not None:
                gradient /= tokens


def _over_chunks(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    rows: int,
    gradients: _Gradients | None,
) -> tuple[Float[Tensor, "tokens"], Float[Tensor, "tokens"]]:
    """Negative log-likelihood and logit of every target."""
    tokens, vocabulary = features.shape[0], weight.shape[0]
    inputs, matrix = _with_bias(features, weight, bias)
    small = _largest_norm(inputs) * _largest_norm(matrix) < SMALL
    buffer = features.new_empty(vocabulary * min(rows, tokens))
    negative, chosen = features.new_empty(tokens), features.new_empty(tokens)
    for start in range(0, tokens, rows):
        chunk = slice(start, min(start + rows, tokens))
        some, ids = inputs[chunk], targets[None, chunk]
        logits = buffer[: vocabulary * some.shape[0]].view(vocabulary, -1)
        torch.mm(matrix, some.t(), out=logits)
        torch.gather(logits, 0, ids, out=chosen[None, chunk])
        shift = 0.0 if small else logits.amax(dim=0)
        exponentials = (logits if small else logits.sub_(shift)).exp_()
        sums = exponentials.sum(dim=0)
        torch.log(sums, out=negative[chunk]).sub_(chosen[chunk] - shift)
        if gradients is not None:
            correct = (gradients.smoothing - 1) * sums
            wrong = exponentials.scatter_add_(0, ids, correct[None])
            gradients.add(chunk, features[chunk], weight, wrong, sums)
    return negative, chosen


def _with_bias(
    features: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Float[Tensor, "tokens inputs"], Float[Tensor, "vocabulary inputs"]]:
    """Two matrices whose product are the logits: the bias is the weight of one more input, 1."""
    if bias is None:
        return features, weight
    one = features.new_ones(())
    return (
        torch.cat([features, one.expand(features.shape[0], 1)], dim=1),
        torch.cat([weight, bias[:, None]], dim=1),
    )


def _largest_norm(rows: Float[Tensor, "rows size"]) -> float:
    """Of two matrices, the product of these is at least as large as that of any two rows."""
    return float(torch.linalg.vector_norm(rows, dim=1).max())


def _mean_logit(features: Tensor, weight: Tensor, bias: Tensor | None) -> Float[Tensor, ""]:
    """The mean of all logits, which needs none of them: that of x times that of W, plus of b."""
    mean = features.mean(dim=0) @ weight.mean(dim=0)
    return mean if bias is None else mean + bias.mean()
