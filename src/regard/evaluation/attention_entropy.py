"""How spread out the attention of each head is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.evaluation.attention_stack import AttentionStack, Kind


@dataclass(frozen=True)
class HeadEntropies:
    """The mean entropy of the rows of each head, in bits.

    bits: `[layers][heads]`; 0 for attention to a single place.
    even: what attention would have that is the same everywhere: the mean logarithm of how many
        places there are.
    steps, mean: as of `AttentionStack`. rows: over how many rows it is the mean.
    """

    kind: Kind
    bits: tuple[tuple[float, ...], ...]
    even: float
    rows: int
    steps: bool
    mean: bool


def entropies_by_head(looks: Iterable[Sequence[AttentionStack]]) -> list[HeadEntropies]:
    """Of each kind of attention, over the rows of all that were looked into.

    looks: the stacks of each pair of a source and a target, of one model. A kind of which some pair
    has only the mean over heads is told as that mean.
    """
    by_kind: dict[Kind, list[AttentionStack]] = {}
    for stacks in looks:
        for stack in stacks:
            by_kind.setdefault(stack.kind, []).append(stack)
    return [_of_kind(stacks) for stacks in by_kind.values()]


def _of_kind(stacks: Sequence[AttentionStack]) -> HeadEntropies:
    import numpy as np

    mean = any(stack.mean for stack in stacks)
    if mean:
        stacks = [stack.over_heads() for stack in stacks]
    sums: Any = 0.0
    even, rows = 0.0, 0
    for stack in stacks:
        weights = np.asarray(stack.weights, dtype=np.float64)
        real = weights.sum((0, 1, 3)) > 0  # rows that attend at all
        sums = sums + entropy_in_bits(weights)[..., real].sum(-1)
        even += float(np.log2(_places(stack.kind, *weights.shape[2:]))[real].sum())
        rows += int(real.sum())
    bits = tuple(tuple(layer) for layer in (sums / max(1, rows)).tolist())
    return HeadEntropies(stacks[0].kind, bits, even / max(1, rows), rows, stacks[0].steps, mean)


def entropy_in_bits(weights: Any) -> Any:
    """Of the last axis: ``- sum_j a_j log2 a_j``, a weight of 0 counting nothing."""
    import numpy as np

    return -(weights * np.log2(np.where(weights > 0, weights, 1.0))).sum(-1)


def _places(kind: Kind, rows: int, columns: int) -> Any:
    """How many places each row can attend to: all, or of an output what came before."""
    import numpy as np

    return np.arange(1, rows + 1) if kind == "decoder" else np.full(rows, columns)
