"""Any metric by its name: those of texts, and those of captions."""

from collections.abc import Sequence
from typing import Literal

from regard.evaluation.captions import CAPTION_METRICS, evaluate_captions
from regard.evaluation.report import BETTER, evaluate_texts
from regard.evaluation.score import Score
from regard.evaluation.transduction import Splitter, spaced_symbols


def better(name: str) -> Literal["higher", "lower"]:
    """Whether a higher or a lower value of a metric is better."""
    return BETTER.get(name, "higher")


def measure(
    name: str,
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    symbols: Splitter = spaced_symbols,
) -> Score:
    """One metric of outputs against the accepted targets of their sources.

    Arguments and errors as of `evaluate_texts` and `evaluate_captions`.
    """
    if name in CAPTION_METRICS and name not in BETTER:
        return evaluate_captions(hypotheses, references, names=(name,)).metric(name)
    return evaluate_texts(hypotheses, references, names=(name,), symbols=symbols).metric(name)
