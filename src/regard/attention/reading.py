"""One call of an attention, from projected queries to weights and contexts. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from regard.attention.functional import masked_log_softmax
from regard.attention.masks import with_causal
from regard.attention.memory import Memory
from regard.attention.scores import AdditiveScore, DotScore, GeneralScore, Score
from regard.attention.selection import weights_of


@dataclass(frozen=True)
class Reading:
    """What is read from what.

    Attributes:
        queries: projected and split, ``[batch, heads, queries, size]``.
        memory: prepared.
        mask: all masks but the causal one, ANDed; broadcasts to the weights; None = all visible.
        causal: query i sees positions up to ``i + positions - queries``.
        bias: added to the scores; broadcasts to the weights.
        factor: multiplies the weights (local-p's Gaussian); broadcasts to them.
        itself: whether the queries are the keys.
    """

    queries: Float[Tensor, "batch heads queries size"]
    memory: Memory
    mask: Bool[Tensor, ...] | None
    causal: bool
    bias: Float[Tensor, ...] | None
    factor: Float[Tensor, ...] | None
    itself: bool

    @property
    def count(self) -> int:
        """How many queries there are."""
        return self.queries.shape[2]

    def allowed(self) -> Bool[Tensor, ...] | None:
        """All masks, ANDed."""
        positions, device = self.memory.positions, self.queries.device
        return with_causal(self.mask, self.causal, self.count, positions, device)


def masked_scores(
    reading: Reading, score: Score, selection: str, coverage: Tensor | None
) -> tuple[Float[Tensor, "batch heads queries positions"], Bool[Tensor, ...] | None]:
    """Scores with every bias, and where they count."""
    allowed = reading.allowed()
    if isinstance(score, AdditiveScore) and score.w_c is not None:
        return _covered_scores(reading, score, selection, coverage, allowed), allowed
    scores = score(reading.queries, reading.memory.key, reading.memory.derived)
    return (scores if reading.bias is None else scores + reading.bias), allowed


def weights_from(
    scores: Float[Tensor, "batch heads queries positions"],
    allowed: Bool[Tensor, ...] | None,
    factor: Float[Tensor, ...] | None,
    selection: str,
) -> Float[Tensor, "batch heads queries positions"]:
    """Softmax or what stands for it, then the factor."""
    weights = weights_of(selection, scores, allowed)
    return weights if factor is None else weights * factor.to(weights.dtype)


def log_weights_from(
    scores: Float[Tensor, "batch heads queries positions"],
    allowed: Bool[Tensor, ...] | None,
    factor: Float[Tensor, ...] | None,
    selection: str,
) -> Float[Tensor, "batch heads queries positions"]:
    """Natural logarithms of what a position is drawn from, in at least float32: each row a
    distribution (local-p's too), minus infinity where the weight is 0.
    """
    if selection in ("soft", "hard"):
        if factor is not None:
            # Far outside its window a factor sinks to 0, and the slope of its logarithm with it.
            near = factor if allowed is None else torch.where(allowed, factor, 1.0)
            scores = scores + near.log()
        return masked_log_softmax(scores, allowed)
    weights = weights_from(
        scores.float() if scores.dtype.itemsize < 4 else scores, allowed, factor, selection
    )
    possible = weights > 0
    return masked_log_softmax(torch.where(possible, weights, 1.0).log(), possible)


def _covered_scores(
    reading: Reading,
    score: AdditiveScore,
    selection: str,
    coverage: Float[Tensor, "batch heads positions"] | None,
    allowed: Bool[Tensor, ...] | None,
) -> Float[Tensor, "batch heads queries positions"]:
    """Query after query: each sees how much those before it attended to every key."""
    key = reading.memory.key
    covered = key.new_zeros(key.shape[:3]) if coverage is None else coverage
    if covered.shape != key.shape[:3]:
        raise ValueError(
            f"coverage of {list(covered.shape)} does not fit: "
            f"[batch, heads, positions] = {list(key.shape[:3])}"
        )
    rows = []
    for i in range(reading.count):
        scores = score(reading.queries[:, :, i : i + 1], score.cover(key, covered))
        if reading.bias is not None:
            scores = scores + _row(reading.bias, i)
        rows.append(scores)
        weights = weights_from(scores, _row(allowed, i), _row(reading.factor, i), selection)
        covered = covered + weights[:, :, 0].to(covered.dtype)
    return torch.cat(rows, dim=2) if rows else key.new_zeros(*key.shape[:2], 0, key.shape[2])


def _row(tensor: Tensor | None, i: int) -> Tensor | None:
    """What belongs to query i of something that broadcasts to the weights."""
    if tensor is None or tensor.dim() < 2 or tensor.shape[-2] == 1:
        return tensor
    return tensor[..., i : i + 1, :]


def fused_context(
    reading: Reading, score: DotScore | GeneralScore, dropout: float
) -> Float[Tensor, "batch heads queries size"]:
    """Score, softmax and sum through PyTorch's kernel, which never makes the weights."""
    memory, count = reading.memory, reading.count
    # Compiled, lengths are not compared: the graph would be for equal ones, or for others, alone.
    square = reading.itself or (not torch.compiler.is_compiling() and count == memory.positions)
    alone = reading.causal and square and reading.mask is None and reading.bias is None
    allowed = None
    if not alone:
        # One query at the end of its cache sees everything: causal adds nothing.
        bottom = reading.causal and count > 1
        positions, device = memory.positions, reading.queries.device
        allowed = with_causal(reading.mask, bottom, count, positions, device)
    context = F.scaled_dot_product_attention(
        score.transform(reading.queries),
        memory.key,
        memory.value,
        attn_mask=_added(allowed, reading.bias, reading.queries.dtype),
        is_causal=alone,
        dropout_p=dropout,
        scale=score.scale,
        **({"enable_gqa": True} if memory.key.shape[1] != reading.queries.shape[1] else {}),
    )
    if allowed is None:
        return context
    # Rows with nothing to attend to: PyTorch's kernels disagree among themselves.
    some = allowed.any(-1, keepdim=True)
    on_processor = context.device.type == "cpu" and not torch.compiler.is_compiling()
    return context if on_processor and some.all() else torch.where(some, context, 0.0)


def _added(allowed: Tensor | None, bias: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """The mask that PyTorch's kernel takes: boolean, or a bias with minus infinities."""
    if bias is None or allowed is None:
        return allowed if bias is None else bias.to(dtype)
    fill = torch.where(allowed.any(-1, keepdim=True), float("-inf"), 0.0)
    return torch.where(allowed, bias.to(dtype), fill.to(dtype))
