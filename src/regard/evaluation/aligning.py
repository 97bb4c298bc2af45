"""Pairs in, word alignments out: forced decoding of given targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import torch

from regard.data.alignment import turned, word_counts
from regard.data.batches import Example, collate
from regard.data.special import UNKNOWN
from regard.data.tokenizers import Tokenized, Tokenizers, unseen_symbols
from regard.errors import UserError
from regard.evaluation.alignment import WordWeights, word_weights
from regard.evaluation.asking import GivenPairs, read_given_pairs
from regard.evaluation.attention_choice import AttentionChoice, attentions, check_choice
from regard.evaluation.symmetrization import symmetrize
from regard.evaluation.translation import BLANK
from regard.models import Model
from regard.search import Ensemble

#: What is linked: words between white space, or the model's own tokens, features among them.
Unit = Literal["word", "token"]
Pair = tuple[str, str]
#: Most weights of one layer at once, padding included: memory stays bounded whatever the lengths.
MOST_WEIGHTS = 4_000_000


@dataclass(frozen=True)
class AlignedPair:
    """Which words of a source and of its given target belong together.

    alignment: links (word of the source, word of the target), 0-based, of what white space
        separates; or of tokens. Sorted; empty for a pair with a blank side.
    forward, reverse: with a model of the opposite direction, the links of each, source first,
        that `alignment` was made of.
    source_tokens, tokens: what the model read and was given, the end symbol ``</s>`` included.
    attention: ``[tokens][source tokens]``, what the (forward) links were read from; empty unless
        asked for.
    problem: why there is no alignment: a side is longer than the model can read or write, or
        features cannot be taken apart.
    unseen, unseen_target, unseen_features: symbols that training never saw, as of `Translation`.
    """

    alignment: tuple[tuple[int, int], ...] = ()
    forward: tuple[tuple[int, int], ...] = ()
    reverse: tuple[tuple[int, int], ...] = ()
    source_tokens: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    attention: tuple[tuple[float, ...], ...] = ()
    problem: str | None = None
    unseen: tuple[str, ...] = ()
    unseen_target: tuple[str, ...] = ()
    unseen_features: tuple[str, ...] = ()


class Sides(NamedTuple):
    """The tokens of a pair without the end symbol, and what of them was never seen."""

    source: Tokenized
    target: Tokenized
    unseen: tuple[str, ...]
    unseen_target: tuple[str, ...]
    unseen_features: tuple[str, ...]


class Read(NamedTuple):
    """A pair with what one attention says of it.

    attention: ``[target tokens + 1, source tokens + 1]``, the end symbol's last.
    unit: what is linked.
    """

    sides: Sides
    attention: Any
    unit: Unit

    @property
    def weights(self) -> WordWeights:
        """Attention between the units."""
        source, target = map(self._units, self.sides[:2])
        return word_weights(self.attention, source, target)

    def _units(self, side: Tokenized) -> tuple[int, ...]:
        return (*(side.words if self.unit == "word" else range(len(side.words))), -1)


@dataclass(frozen=True)
class Aligner:
    """A model that aligns, and how it is asked.

    features: of each source, for a model that has features.
    batch_size: most pairs computed at once; it changes speed and nothing else.
    """

    model: Model | Ensemble
    tokenizers: Tokenizers
    features: Sequence[str] | None = None
    unit: Unit = "word"
    batch_size: int = 64

    def lengths(self, pairs: Sequence[Pair]) -> list[tuple[int, int]]:
        """How many units the source and the target of each pair have.

        Raises UserError for features that are missing, given for nothing, or cannot be read.
        """
        if self.unit == "word":
            return word_counts(pairs)
        sources = self.tokenizers.encode_sources([source for source, _ in pairs], self.features)
        targets = self.tokenizers.target.encode_all([target for _, target in pairs])
        return [(len(one), len(other)) for one, other in zip(sources, targets, strict=True)]

    def read(
        self, pairs: Sequence[Pair], choices: Sequence[AttentionChoice], problems: dict[int, str]
    ) -> Iterator[tuple[int, AttentionChoice, Read]]:
        """What each choice says of each pair that has two sides, by the number of the pair.

        Why a pair cannot be read is noted in `problems`. Raises UserError for a model without
        attention, and for features that are missing or given for nothing.
        """
        answers = [BLANK] * len(pairs)
        given = read_given_pairs(self.model, self.tokenizers, pairs, self.features, answers)
        for i, answer in enumerate(answers):
            if answer.problem is not None:
                problems[i] = answer.problem
        heads = max(1, self.model.attention_heads)
        for indices in cut_evenly(given.examples, self.batch_size, heads):
            batch = collate([given.examples[i] for i in indices], range(len(indices)))
            sides = [_sides(given, pairs[i], i) for i in indices]
            with torch.no_grad():
                for choice, attention in attentions(self.model, batch, choices):
                    if attention is None:
                        raise UserError("this model has no attention: there is nothing to align by")
                    rows = attention.cpu().numpy()
                    for i, side, weights in zip(indices, sides, rows, strict=True):
                        yield i, choice, Read(side, _own(weights, side, choice.shift), self.unit)


def align_texts(
    aligner: Aligner,
    pairs: Sequence[Pair],
    choice: AttentionChoice | None = None,
    *,
    need_attention: bool = True,
) -> list[AlignedPair]:
    """Align every source with its target, in order, by attention while the target is given.

    choice: which attention; None = what `show` draws. need_attention: whether the weights are
    wanted too. Raises UserError for a layer, head or shift that the model has not, and as
    `Aligner.read`.
    """
    choice = choice or AttentionChoice()
    check_choice(aligner.model, choice)
    aligned = [AlignedPair()] * len(pairs)
    problems: dict[int, str] = {}
    for i, _, read in aligner.read(pairs, [choice], problems):
        source, target, unseen, unseen_target, unseen_features = read.sides
        aligned[i] = AlignedPair(
            tuple(sorted(read.weights.links())),
            source_tokens=(*source.tokens, "</s>"),
            tokens=(*target.tokens, "</s>"),
            attention=tuple(map(tuple, read.attention.tolist())) if need_attention else (),
            unseen=unseen,
            unseen_target=unseen_target,
            unseen_features=unseen_features,
        )
    for i, problem in problems.items():
        aligned[i] = AlignedPair(problem=problem)
    return aligned


def align_both_ways(
    aligner: Aligner,
    reverse: Aligner,
    pairs: Sequence[Pair],
    choices: tuple[AttentionChoice | None, AttentionChoice | None] = (None, None),
    *,
    method: str = "grow-diag-final-and",
    need_attention: bool = True,
) -> list[AlignedPair]:
    """Align by a model and one of the opposite direction, and symmetrize the links of both.

    choices: of the model and of the other. method: of `SYMMETRIZATIONS`. Raises as `align_texts`,
    and UserError for tokens, which two models need not have in common.
    """
    if aligner.unit != "word":
        raise UserError("two models need not have the same tokens: align words by both directions")
    there = align_texts(aligner, pairs, choices[0], need_attention=need_attention)
    flipped = [(target, source) for source, target in pairs]
    back = align_texts(reverse, flipped, choices[1], need_attention=False)
    return [_joined(one, other, method) for one, other in zip(there, back, strict=True)]


def _joined(one: AlignedPair, other: AlignedPair, method: str) -> AlignedPair:
    if one.problem is not None:
        return one
    if other.problem is not None:
        return AlignedPair(problem=f"in the opposite direction: {other.problem}")
    forward, reverse = frozenset(one.alignment), turned(other.alignment)
    both = symmetrize(forward, reverse, method)
    return replace(
        one,
        alignment=tuple(sorted(both)),
        forward=one.alignment,
        reverse=tuple(sorted(reverse)),
    )


def _sides(given: GivenPairs, pair: Pair, index: int) -> Sides:
    """The tokens of a pair that was read, words being those of its own texts."""
    tokenizers, tag = given.tokenizers[index], given.tags[index]
    source = tokenizers.tokenize_source(pair[0], tag)
    target = tokenizers.target.tokenize(pair[1])
    features = tokenizers.features
    return Sides(
        source,
        target,
        unseen_symbols(tokenizers.source, pair[0]) if UNKNOWN in given.sources[index].ids else (),
        unseen_symbols(tokenizers.target, pair[1]) if UNKNOWN in target.ids else (),
        () if features is None or tag is None else features.unseen(tag),
    )


def _own(weights: Any, sides: Sides, shift: int) -> Any:
    """A row of a batch without its padding: row i is what token i is taken to have attended to.

    END, which no step reads, keeps its own where the others are taken from the step after.
    """
    own = weights[: len(sides.target.ids) + 1, : len(sides.source.ids) + 1]
    if not shift:
        return own
    import numpy as np

    return np.concatenate([own[1:], own[-1:]])


def cut_evenly(examples: dict[int, Example], batch_size: int, heads: int) -> Iterator[list[int]]:
    """Batches of pairs of about one length: `batch_size` at most, and at most MOST_WEIGHTS."""
    order = sorted(examples, key=lambda i: (len(examples[i].source), len(examples[i].target), i))
    batch: list[int] = []
    longest = 0
    for i in order:
        source, target = len(examples[i].source), len(examples[i].target)
        longest = max(longest, target)
        weights = (len(batch) + 1) * heads * source * longest
        if batch and (len(batch) == batch_size or weights > MOST_WEIGHTS):
            yield batch
            batch, longest = [], target
        batch.append(i)
    if batch:
        yield batch
