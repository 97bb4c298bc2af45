"""An evaluation: every asked-for figure of one set of outputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from regard.evaluation.checks import check_answers, unknown_metric
from regard.evaluation.moses import moses_bleu
from regard.evaluation.score import Score
from regard.evaluation.text import bleu, chrf, ter
from regard.evaluation.transduction import (
    Splitter,
    exact_match,
    spaced_symbols,
    symbol_error_rate,
    word_error_rate,
)

BETTER: dict[str, Literal["higher", "lower"]] = {
    "bleu": "higher",
    "chrf": "higher",
    "ter": "lower",
    "word_error_rate": "lower",
    "symbol_error_rate": "lower",
    "exact_match": "higher",
}
METRICS = tuple(BETTER)

_METRICS: dict[str, Callable[..., Score]] = {
    "bleu": bleu,
    "chrf": chrf,
    "ter": ter,
    "word_error_rate": word_error_rate,
    "exact_match": exact_match,
}


@dataclass(frozen=True)
class Evaluation:
    """The figures of one set of outputs, in the order in which they were asked for.

    sources: how many distinct sources were answered.
    references: how many accepted targets they have in all.
    """

    scores: tuple[Score, ...]
    sources: int
    references: int

    def metric(self, name: str) -> Score:
        """The score of that name; UserError naming the nearest one when it was not computed."""
        for score in self.scores:
            if score.name == name:
                return score
        raise unknown_metric(name, [score.name for score in self.scores])

    def as_dict(self) -> dict[str, Any]:
        """The evaluation in JSON's terms: `{"sources", "references", "metrics": {name: {...}}}`."""
        return {
            "sources": self.sources,
            "references": self.references,
            "metrics": {score.name: score.as_dict() for score in self.scores},
        }


def evaluate_texts(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    names: Sequence[str] = METRICS,
    symbols: Splitter = spaced_symbols,
    moses: str | None = None,
    resamples: int = 0,
) -> Evaluation:
    """Score outputs against the accepted targets of their sources, all from raw text.

    hypotheses: one output a source, an empty string for an empty output.
    references: the accepted targets of each source, at least one, in any number.
    names: which metrics, of `METRICS`, in the order wanted.
    symbols: cuts a text into the symbols that `symbol_error_rate` counts.
    moses: language of the targets, for `moses_bleu` too, behind the others; None = without it.
    resamples: bootstrap resamples of the sources for intervals of 95 %; 0 = none.
    Raises UserError for an unknown name, differing counts, a source without a target.
    """
    check_answers(hypotheses, references)
    for name in names:
        if name not in BETTER:
            raise unknown_metric(name, METRICS)
    scores = [_compute(name, hypotheses, references, symbols, resamples) for name in names]
    if moses is not None:
        scores.append(moses_bleu(hypotheses, references, moses, resamples=resamples))
    return Evaluation(tuple(scores), len(references), sum(len(accepted) for accepted in references))


def _compute(
    name: str,
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    symbols: Splitter,
    resamples: int,
) -> Score:
    if name == "symbol_error_rate":
        return symbol_error_rate(hypotheses, references, symbols, resamples=resamples)
    return _METRICS[name](hypotheses, references, resamples=resamples)
