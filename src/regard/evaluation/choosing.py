"""Choosing the attention that aligns best: by gold links, by two directions, by entropy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from regard.data.alignment import Alignment, turned
from regard.errors import UserError
from regard.evaluation.aligning import Aligner, Pair
from regard.evaluation.alignment import LinkCounts, Links, WordWeights, alignment_error_rate
from regard.evaluation.attention_choice import AttentionChoice, candidates


class ChosenAttention(NamedTuple):
    """A choice, and the figure that it was chosen for.

    shown: the same figure of the attention that `show` draws.
    measure: what the figure is.
    """

    choice: AttentionChoice
    figure: float
    shown: float
    measure: str


def choose_by_gold(
    aligner: Aligner, pairs: Sequence[Pair], gold: Sequence[Alignment]
) -> ChosenAttention:
    """The layer, head and step with the lowest alignment error rate; of equals the first."""
    if len(pairs) != len(gold):
        raise UserError(f"{len(gold)} gold alignments for {len(pairs)} pairs: give one for each")
    sums: dict[AttentionChoice, list[float]] = {}
    choices = candidates(aligner.model, heads=True, shifts=True)
    for i, choice, read in aligner.read(pairs, choices, {}):
        counts = LinkCounts.of(read.weights.links(), gold[i]).as_tuple()
        before = sums.setdefault(choice, [0.0] * len(counts))
        sums[choice] = [total + count for total, count in zip(before, counts, strict=True)]
    rates = {choice: 100 * LinkCounts(*counts).error_rate for choice, counts in sums.items()}
    return _best(rates, min, "alignment error rate, %")


def choose_by_information(aligner: Aligner, pairs: Sequence[Pair]) -> ChosenAttention:
    """The layer whose mean over heads has most `word_information`; of equals the first.

    Not a single head: how sharp one is tells nothing about where it points, but the mean is sharp
    only where the heads of a layer point at the same word.
    """
    sums: dict[AttentionChoice, float] = {}
    words: dict[AttentionChoice, int] = {}
    choices = candidates(aligner.model, heads=False, shifts=False)
    for _, choice, read in aligner.read(pairs, choices, {}):
        weights = read.weights
        count = len(weights.targets)
        sums[choice] = sums.get(choice, 0.0) + count * word_information(weights)
        words[choice] = words.get(choice, 0) + count
    figures = {choice: total / max(1, words[choice]) for choice, total in sums.items()}
    return _best(figures, max, "information, bits")


def choose_by_agreement(
    aligner: Aligner, reverse: Aligner, pairs: Sequence[Pair]
) -> tuple[ChosenAttention, ChosenAttention]:
    """The layers and steps of two directions whose links agree most (Chen et al. 2020).

    Every layer, mean over heads, of one is graded with the links of every layer of the other as
    the gold ones; the two with the lowest alignment error rate are chosen, of equals the first.
    """
    forward = _all_links(aligner, pairs)
    backward = _all_links(reverse, [(target, source) for source, target in pairs])
    nothing: list[Links] = [frozenset()] * len(pairs)
    rates = {
        (one, other): 100 * alignment_error_rate(links, list(map(turned, sure)), nothing)
        for one, links in forward.items()
        for other, sure in backward.items()
    }
    measure = "links of the two directions that differ, %"
    (one, other), rate, shown, _ = _best(rates, min, measure)
    return ChosenAttention(one, rate, shown, measure), ChosenAttention(other, rate, shown, measure)


def word_information(weights: WordWeights) -> float:
    """How much a target word tells about where it attends to, in bits.

    The mutual information of a target word, each as likely, and what its attention picks of the
    source: the entropy of the mean over the target words, less the mean of their entropies. 0 for
    attention that is the same for every word, however sharp; at most the logarithm of the length,
    for attention that gives each word a place of its own.
    """
    import numpy as np

    if not len(weights.targets):
        return 0.0
    totals = weights.sums.sum(1, keepdims=True)
    shares = weights.sums / np.where(totals == 0, 1.0, totals)
    return float(_entropy(shares.mean(0)) - _entropy(shares).mean())


def _entropy(shares: Any) -> Any:
    """In bits, of each row."""
    import numpy as np

    return -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(-1)


def _all_links(aligner: Aligner, pairs: Sequence[Pair]) -> dict[AttentionChoice, list[Links]]:
    """Of each pair by each layer and step, mean over heads; none where a pair cannot be read."""
    found: dict[AttentionChoice, list[Links]] = {}
    choices = candidates(aligner.model, heads=False, shifts=True)
    for i, choice, read in aligner.read(pairs, choices, {}):
        found.setdefault(choice, [frozenset()] * len(pairs))[i] = read.weights.links()
    return found


def _best(figures: dict[Any, float], best: Callable[..., Any], measure: str) -> Any:
    """Of equals the first; the first figure is that of what is shown. UserError without any."""
    if not figures:
        raise UserError("no pair can be read: there is nothing to choose the attention by")
    limit = best(figures.values())
    equals = (each for each, figure in figures.items() if math.isclose(figure, limit, abs_tol=1e-6))
    choice = next(equals)
    return ChosenAttention(choice, figures[choice], next(iter(figures.values())), measure)
