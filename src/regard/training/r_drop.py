"""R-Drop: the same tokens twice, with different dropout, and how far apart the answers are.

Liang et al. 2021, "R-Drop: Regularized Dropout for Neural Networks", section 2. With p and q the
distributions of the two passes at a token, and KL summed over the vocabulary:

    paper   L = (-log p[y] - log q[y]) + alpha / 2 (KL(p || q) + KL(q || p))
    here    L / 2, the mean of both passes' losses: as large as that of other trainings

Label smoothing is part of the first bracket and not of the distributions. Gradients go through both
passes everywhere. Of the sum D of both divergences at a token, with d = log p - log q and z the
logits of p:

    D = sum_v (p - q) d        dD/dz = p (d - KL(p || q)) + p - q

Both passes of some tokens are in the buffer at a time, and their gradient follows at once, as in
`regard.training.loss`.
"""

from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.nn.kernels.products import by_columns, factor
from regard.training.loss import Loss, check_targets, in_chunks
from regard.training.loss_chunks import Chunked, Gradients, rows_in_a_chunk, with_bias


def paired_cross_entropy(
    features: tuple[Float[Tensor, "tokens size"], Float[Tensor, "tokens size"]],
    weight: Float[Tensor, "vocabulary size"],
    bias: Float[Tensor, "vocabulary"] | None,
    targets: Int[Tensor, "tokens"],
    alpha: float,
    smoothing: float = 0.0,
    rows: int | None = None,
) -> Loss:
    """R-Drop's mean loss of `targets` under an output layer, from the features of both passes.

    Nothing as large as tokens by vocabulary is kept. `rows`, what cannot be done with the gradients
    and errors are as of `regard.training.loss.linear_cross_entropy`. negative_log_likelihood: the
    plain mean of both passes.
    """
    check_targets(targets, features[0].shape[0], weight.shape[0])
    rows = rows or rows_in_a_chunk(4 * weight.shape[0])
    over = partial(_over_pairs, targets=targets, rows=rows, alpha=alpha)
    return in_chunks(over, torch.cat(features), weight, bias, smoothing)


def paired_loss(
    log_probabilities: tuple[Float[Tensor, "tokens width"], Float[Tensor, "tokens width"]],
    targets: Int[Tensor, "tokens"],
    vocabulary: int,
    alpha: float,
    smoothing: float = 0.0,
) -> Loss:
    """The same of any two passes' log-probabilities, which autograd keeps.

    vocabulary: how many symbols label smoothing is spread over; ids beyond it are those of single
    sentences, and minus infinity in the others.
    """
    both = torch.stack(log_probabilities)
    chosen = targets[None, :, None].expand(2, -1, 1)
    plain = -both.gather(2, chosen).mean()
    loss = plain
    if smoothing:
        loss = (1 - smoothing) * plain - smoothing * both[..., :vocabulary].mean()
    apart = divergence(*log_probabilities).mean()
    return Loss(loss + alpha / 4 * apart, plain.detach())


def divergence(
    one: Float[Tensor, "tokens width"], other: Float[Tensor, "tokens width"]
) -> Float[Tensor, " tokens"]:
    """``KL(p || q) + KL(q || p)`` of log-probabilities; what is impossible in both adds nothing."""
    difference = (one - other).masked_fill(one == -torch.inf, 0.0)
    return ((one.exp() - other.exp()) * difference).sum(-1)


def _over_pairs(
    features: Float[Tensor, "pairs size"],
    weight: Tensor,
    bias: Tensor | None,
    gradients: Gradients | None,
    *,
    targets: Int[Tensor, "tokens"],
    rows: int,
    alpha: float,
) -> Chunked:
    """`over_chunks` of all tokens of the first pass and then of the second, a chunk of each."""
    tokens, vocabulary = targets.shape[0], weight.shape[0]
    inputs, matrix = map(factor, with_bias(features, weight, bias))
    negative, chosen = features.new_empty(2 * tokens), features.new_empty(2 * tokens)
    apart = features.new_empty(tokens)
    buffers = features.new_empty(4, vocabulary * min(rows, tokens))
    for start in range(0, tokens, rows):
        end = min(start + rows, tokens)
        chunks = slice(start, end), slice(tokens + start, tokens + end)
        ids = targets[None, start:end]
        p, q, d, room = (one[: vocabulary * (end - start)].view(vocabulary, -1) for one in buffers)
        for chunk, logits in zip(chunks, (p, q), strict=True):
            by_columns(matrix, inputs[chunk].t(), out=logits)
            torch.gather(logits, 0, ids, out=chosen[None, chunk])
        torch.sub(p, q, out=d)
        for chunk, logits in zip(chunks, (p, q), strict=True):
            torch.sub(_softmax(logits), chosen[chunk], out=negative[chunk])
        means = tuple(torch.mul(each, d, out=room).sum(dim=0) for each in (p, q))
        torch.sub(*means, out=apart[start:end])
        if gradients is None:
            continue
        right = torch.full((1, end - start), gradients.smoothing - 1, dtype=p.dtype)
        ones = torch.ones(end - start, dtype=p.dtype)
        for number, chunk in enumerate(chunks):
            wrong = _wrong(number, (p, q), d, means, alpha, room).scatter_add_(0, ids, right)
            gradients.add(chunk, features[chunk], wrong, ones)
    return Chunked(negative, chosen, alpha / 4 * apart.mean())


def _softmax(logits: Float[Tensor, "vocabulary rows"]) -> Float[Tensor, " rows"]:
    """Turn logits into probabilities in their place; the logarithm of what they were divided by."""
    shift = logits.amax(dim=0)
    sums = logits.sub_(shift).exp_().sum(dim=0)
    logits.mul_(sums.reciprocal())
    return sums.log_().add_(shift)


def _wrong(
    number: int,
    both: tuple[Float[Tensor, "vocabulary rows"], Float[Tensor, "vocabulary rows"]],
    d: Float[Tensor, "vocabulary rows"],
    means: tuple[Float[Tensor, " rows"], ...],
    alpha: float,
    room: Float[Tensor, "vocabulary rows"],
) -> Float[Tensor, "vocabulary rows"]:
    """The gradient, by the logits of a pass, of ``-log p[y] + alpha / 2 D``, but for the target.

    With `d` the difference of the logits themselves and m its mean under p, which differ alike from
    what the formula has, ``p + alpha / 2 (p (d - m + 1) - q)``; of the second pass the same with p
    and q exchanged and d turned round. It is written into `room`.
    """
    own, other, mean = both[number], both[1 - number], means[number]
    half = alpha / 2
    turned = half if number == 0 else -half
    torch.add(1 + half - turned * mean, d, alpha=turned, out=room)
    return room.mul_(own).sub_(other, alpha=half)
