"""Word alignments: reading them off attention, guessing them, grading them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.alignment import Alignment
from regard.errors import UserError
from regard.evaluation.intervals import bootstrap_interval
from regard.evaluation.score import Score

Links = frozenset[tuple[int, int]]
"""Pairs of 0-based word indices, source first."""


@dataclass(frozen=True)
class LinkCounts:
    """What Och and Ney's figures (2003, section 5) are made of, of one pair or many.

    predicted: |A|; sure: |S|; agreeing_sure: |A∩S|; agreeing_possible: |A∩P|, where sure links
    are possible too.
    """

    predicted: float
    sure: float
    agreeing_sure: float
    agreeing_possible: float

    @staticmethod
    def of(predicted: Links, gold: Alignment) -> "LinkCounts":
        """Of one pair."""
        return LinkCounts(
            len(predicted), len(gold.sure), len(predicted & gold.sure), len(predicted & gold.links)
        )

    def as_tuple(self) -> tuple[float, float, float, float]:
        """In the order of the fields."""
        return self.predicted, self.sure, self.agreeing_sure, self.agreeing_possible

    @property
    def precision(self) -> float:
        """|A∩P| / |A|, from 0 to 1; 1 where nothing is predicted."""
        return self.agreeing_possible / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        """|A∩S| / |S|, from 0 to 1; 1 where nothing is sure."""
        return self.agreeing_sure / self.sure if self.sure else 1.0

    @property
    def error_rate(self) -> float:
        """AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|), from 0 (best) to 1; 0 where there is none."""
        total = self.predicted + self.sure
        return 1 - (self.agreeing_sure + self.agreeing_possible) / total if total else 0.0


def count_links(predicted: Sequence[Links], gold: Sequence[Alignment]) -> LinkCounts:
    """The counts of a corpus: summed over its pairs. UserError when the lengths differ."""
    return _added(_counts(predicted, gold))


def alignment_error_rate(
    predicted: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links]
) -> float:
    """The alignment error rate of a corpus, from 0 (best) to 1 (Och and Ney 2003).

    predicted, sure, possible: the links of each sentence pair; sure links count as possible
    whether or not `possible` repeats them. Counts are summed over the pairs before dividing. With
    no link predicted and none sure there is no error: 0. UserError when the counts differ.
    """
    if not len(predicted) == len(sure) == len(possible):
        raise UserError(
            f"{len(predicted)} predicted, {len(sure)} sure and {len(possible)} possible "
            "alignments: give one of each for every sentence pair"
        )
    gold = [Alignment(certain, allowed) for certain, allowed in zip(sure, possible, strict=True)]
    return count_links(predicted, gold).error_rate


def alignment_scores(
    predicted: Sequence[Links], gold: Sequence[Alignment], *, resamples: int = 0
) -> tuple[Score, Score, Score]:
    """Alignment error rate, precision and recall of a corpus, in percent.

    resamples: bootstrap resamples of the pairs for intervals of 95 %; 0 = none.
    UserError when the lengths differ.
    """
    statistics = _counts(predicted, gold)
    counts = _added(statistics)

    def score(name: str, better: Any) -> Score:
        def figure(sums: Sequence[float]) -> float:
            return 100 * float(getattr(LinkCounts(*sums), name))

        interval = None
        if resamples and statistics:
            interval = bootstrap_interval(statistics, figure, resamples=resamples)
        shown = "alignment_error_rate" if name == "error_rate" else name
        return Score(shown, figure(counts.as_tuple()), None, better, interval)

    return score("error_rate", "lower"), score("precision", "higher"), score("recall", "higher")


def _counts(
    predicted: Sequence[Links], gold: Sequence[Alignment]
) -> list[tuple[float, float, float, float]]:
    if len(predicted) != len(gold):
        raise UserError(
            f"{len(predicted)} predicted and {len(gold)} gold alignments: give one of each for "
            "every sentence pair"
        )
    pairs = zip(predicted, gold, strict=True)
    return [LinkCounts.of(links, alignment).as_tuple() for links, alignment in pairs]


def _added(counts: Sequence[tuple[float, float, float, float]]) -> LinkCounts:
    return LinkCounts(*map(sum, zip(*counts, strict=True))) if counts else LinkCounts(0, 0, 0, 0)


def diagonal(source_length: int, target_length: int) -> Links:
    """The guess to beat: each target word linked to the source word nearest to the diagonal.

    Words are intervals of equal width over the sentence; the middle of target word j falls into
    source word floor((j + 1/2) * source_length / target_length).
    """
    if source_length == 0:
        return frozenset()
    return frozenset(
        ((2 * target + 1) * source_length // (2 * target_length), target)
        for target in range(target_length)
    )


def links_from_attention(
    attention: Any, source_words: Sequence[int], target_words: Sequence[int]
) -> Links:
    """Read word links off attention weights.

    Weights are added up over the tokens of each target word. The word is linked to the source word
    that gets the largest sum over its own tokens. A source token that belongs to no word (the end
    symbol, a space) competes by itself, and where it wins the target word has no link. Of equal
    sums, the one that starts first wins.

    attention: `[target tokens, source tokens]`, nested sequences, an array or a tensor.
    source_words, target_words: the word that each token belongs to, -1 for none. To link tokens
        and not words, give each token an index of its own.
    Raises ValueError when the shape is not that of the words.
    """
    return word_weights(attention, source_words, target_words).links()


@dataclass(frozen=True)
class WordWeights:
    """Attention between words.

    sums: `[target words, source units]`, the weights of all their tokens added up.
    targets: the index of each target word, in order of first appearance.
    sources: that of each source word; -1 for a token that belongs to none, a unit of its own.
    """

    sums: Any
    targets: tuple[int, ...]
    sources: tuple[int, ...]

    def links(self) -> Links:
        """Each target word with the source word that has its largest sum, if that is a word."""
        if not self.sources:
            return frozenset()
        winners = [self.sources[unit] for unit in self.sums.argmax(1)]  # the first of equals
        pairs = zip(winners, self.targets, strict=True)
        return frozenset((source, target) for source, target in pairs if source >= 0)


def word_weights(
    attention: Any, source_words: Sequence[int], target_words: Sequence[int]
) -> WordWeights:
    """Add weights up over the tokens of words. Arguments and errors as `links_from_attention`."""
    shape = len(target_words), len(source_words)
    weights = _checked(attention, shape)
    columns, sources = _units(source_words, alone=True)
    rows, targets = _units(target_words, alone=False)
    sums = _members(rows, len(targets)) @ weights @ _members(columns, len(sources)).T
    return WordWeights(sums, targets, sources)


def _checked(attention: Any, shape: tuple[int, int]) -> Any:
    import numpy as np

    if len(attention) != shape[0]:
        raise ValueError(f"{len(attention)} rows of attention for {shape[0]} tokens")
    if getattr(attention, "shape", None) != shape:
        for row in attention:
            if len(row) != shape[1]:
                raise ValueError(f"{len(row)} weights in a row for {shape[1]} tokens")
    return np.asarray(attention, dtype=np.float64).reshape(shape)


def _members(units: Sequence[int], count: int) -> Any:
    """`[units, tokens]`: 1 where a token belongs to a unit."""
    import numpy as np

    return (np.arange(count)[:, None] == np.array(units, dtype=np.int64)).astype(np.float64)


def _units(words: Sequence[int], *, alone: bool) -> tuple[list[int], tuple[int, ...]]:
    """The unit of each token, and the word of each unit, in order of first appearance.

    A token of no word is a unit by itself, of word -1, or without `alone` none: its unit is -1.
    """
    units: list[int] = []
    owners: list[int] = []
    known: dict[int, int] = {}
    for word in words:
        if word < 0 and not alone:
            units.append(-1)
            continue
        unit = known.setdefault(word, len(owners)) if word >= 0 else len(owners)
        if unit == len(owners):
            owners.append(word)
        units.append(unit)
    return units, tuple(owners)
