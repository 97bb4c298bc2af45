"""Chunks of the loss: logits of a few hundred tokens at a time, and their gradients at once.

How the buffer of logits is used is told in `regard.training.loss`.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.nn.kernels.products import add_by_inner, by_columns, even, factor

#: Elements of the logits buffer: 16 MB of float32, near the size of a last-level cache.
BUFFER_ELEMENTS = 1 << 22
#: Logits up to this size need no shift: far from what a float's exponent can hold (87).
SMALL = 60.0


class Chunked(NamedTuple):
    """What was found of all tokens.

    negative, chosen: negative log-likelihood and logit of each target. penalty: what is added to
    the mean loss, if anything is.
    """

    negative: Float[Tensor, "tokens"]
    chosen: Float[Tensor, "tokens"]
    penalty: Float[Tensor, ""] | None = None


def rows_in_a_chunk(vocabulary: int) -> int:
    """How many tokens are taken at a time."""
    return max(64, min(4096, even(BUFFER_ELEMENTS // vocabulary)))


class Gradients:
    """What is summed over the chunks: gradients of the mean smoothed loss, still without s / V."""

    def __init__(
        self, features: Tensor, weight: Tensor, bias: Tensor | None, smoothing: float
    ) -> None:
        self.smoothing = smoothing
        self.matrix = factor(weight).t()
        self.features = torch.empty_like(features, memory_format=torch.contiguous_format)
        self.weight = torch.zeros_like(weight, memory_format=torch.contiguous_format)
        self.bias = None if bias is None else torch.zeros_like(bias)

    def add(self, chunk: slice, features: Tensor, wrong: Tensor, sums: Tensor) -> None:
        """`wrong`: softmax minus (1 - s) at the targets, times `sums`; [vocabulary, rows]."""
        inverse = sums.reciprocal()
        if self.bias is not None:
            self.bias.addmv_(wrong, inverse)
        wrong = factor(wrong)
        to_features = features.new_empty(features.shape[1], len(features))
        by_columns(self.matrix, wrong, out=to_features)  # faster than its transpose
        self.features[chunk] = to_features.mul_(inverse).t()
        scaled = factor(features * inverse[:, None])
        add_by_inner(self.weight, wrong, scaled)

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


def over_chunks(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    gradients: Gradients | None,
    *,
    targets: Int[Tensor, "tokens"],
    rows: int,
) -> Chunked:
    """Each token's loss, `rows` of them at a time; `gradients` are added to on the way."""
    tokens, vocabulary = features.shape[0], weight.shape[0]
    inputs, matrix = with_bias(features, weight, bias)
    small = _largest_norm(inputs) * _largest_norm(matrix) < SMALL
    inputs, matrix = factor(inputs), factor(matrix)
    ones = features.new_ones(vocabulary)
    buffer = features.new_empty(vocabulary * min(rows, tokens))
    negative, chosen = features.new_empty(tokens), features.new_empty(tokens)
    for start in range(0, tokens, rows):
        chunk = slice(start, min(start + rows, tokens))
        some, ids = inputs[chunk], targets[None, chunk]
        logits = buffer[: vocabulary * some.shape[0]].view(vocabulary, -1)
        by_columns(matrix, some.t(), out=logits)
        torch.gather(logits, 0, ids, out=chosen[None, chunk])
        shift = 0.0 if small else logits.amax(dim=0)
        exponentials = (logits if small else logits.sub_(shift)).exp_()
        sums = torch.mv(exponentials.t(), ones)
        torch.log(sums, out=negative[chunk]).sub_(chosen[chunk] - shift)
        if gradients is not None:
            correct = (gradients.smoothing - 1) * sums
            wrong = exponentials.scatter_add_(0, ids, correct[None])
            gradients.add(chunk, features[chunk], wrong, sums)
    return Chunked(negative, chosen)


def with_bias(
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
