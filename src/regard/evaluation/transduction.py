"""Word error rate, symbol error rate and exact match of transductions (phones, inflected forms).

Every source may have several accepted targets; an output is right when it equals any of them.
Texts are compared as they are: case, spaces and Unicode form count.
"""

import operator
from collections.abc import Callable, Sequence

from regard.evaluation.checks import check_answers
from regard.evaluation.edits import edit_distance
from regard.evaluation.intervals import Interval, bootstrap_interval
from regard.evaluation.score import Score

Splitter = Callable[[str], Sequence[str]]
Rows = Sequence[tuple[float, float]]


def spaced_symbols(text: str) -> list[str]:
    """The symbols of a text that writes them between spaces: `"tʃ ˈa o"` has three."""
    return text.split()


def character_symbols(text: str) -> list[str]:
    """Every code point of a text is a symbol, spaces too."""
    return list(text)


def symbols_of(kind: str) -> Splitter:
    """What is a symbol of the targets of a tokenizer: characters where it writes characters, else
    what spaces part (the words of a model of subwords)."""
    return character_symbols if kind == "character" else spaced_symbols


def exact_match(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, resamples: int = 0
) -> Score:
    """Percent of sources whose output equals one of their accepted targets.

    hypotheses: one output a source; references: the accepted targets of each source.
    resamples: how many bootstrap resamples of the sources make the interval; 0 = no interval.
    Raises UserError when a source has no target, or the counts differ.
    """
    check_answers(hypotheses, references)
    right = sum(map(operator.contains, references, hypotheses))
    interval = word_error_rate(hypotheses, references, resamples=resamples).interval
    if interval is not None:  # the same resamples, so that the two figures agree
        interval = Interval(100 - interval.high, 100 - interval.low, interval.level)
    return Score("exact_match", _percent(right, len(hypotheses)), None, "higher", interval)


def word_error_rate(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, resamples: int = 0
) -> Score:
    """Percent of sources whose output equals none of their accepted targets: 100 - exact match.

    "Word" as in grapheme-to-phoneme work: a source is a word, its output is right or wrong.
    Arguments and errors as of `exact_match`.
    """
    check_answers(hypotheses, references)
    rows = [
        (float(hypothesis not in accepted), 1.0)
        for hypothesis, accepted in zip(hypotheses, references, strict=True)
    ]
    return _rate("word_error_rate", rows, resamples)


def symbol_error_rate(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    symbols: Splitter = spaced_symbols,
    *,
    resamples: int = 0,
) -> Score:
    """Edits to the closest accepted targets, in percent of those targets' symbols.

    Edits and symbols are summed over the sources before dividing. An empty output counts as all
    symbols deleted. The closest target is the one that needs the fewest edits; of equally close
    ones, the longest, so that the order of the targets does not matter.

    symbols: cuts a text into what is counted (`spaced_symbols`, `character_symbols`).
    Other arguments and errors as of `exact_match`.
    """
    check_answers(hypotheses, references)
    rows = [
        closest_edits(symbols(hypothesis), [symbols(target) for target in accepted])
        for hypothesis, accepted in zip(hypotheses, references, strict=True)
    ]
    return _rate("symbol_error_rate", [(float(e), float(n)) for e, n in rows], resamples)


def closest_edits(hypothesis: Sequence[str], accepted: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Edits to the closest of the accepted targets, and the number of its symbols."""
    edits, negative_length = min(
        (edit_distance(target, hypothesis), -len(target)) for target in accepted
    )
    return edits, -negative_length


def closest_target(hypothesis: str, accepted: Sequence[str], symbols: Splitter) -> str:
    """The accepted target whose edits `symbol_error_rate` counts: the first by code points where
    several are equally close and long."""
    given = symbols(hypothesis)
    cut = {target: symbols(target) for target in accepted}
    return min(cut, key=lambda each: (edit_distance(cut[each], given), -len(cut[each]), each))


def _rate(name: str, rows: Rows, resamples: int) -> Score:
    """An error rate of counts summed over sources; rows: (counted, out of) of each source."""
    value = _percent(sum(count for count, _ in rows), sum(total for _, total in rows))
    interval = None
    if resamples:
        interval = bootstrap_interval(rows, lambda sums: _percent(*sums), resamples=resamples)
    return Score(name, value, None, "lower", interval)


def _percent(count: float, total: float) -> float:
    """count / total in percent; something out of nothing is 100, nothing out of nothing is 0."""
    if total == 0:
        return 100.0 if count else 0.0
    return 100.0 * count / total
