"""Figures over the sources that were in the training data, and over those that were not."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from regard.evaluation.checks import check_answers
from regard.evaluation.report import METRICS, Evaluation, evaluate_texts
from regard.evaluation.transduction import Splitter, spaced_symbols

#: Of no sources at all.
NOTHING = Evaluation((), 0, 0)


@dataclass(frozen=True)
class Split:
    """The figures of one set of outputs: over all sources, the seen and the unseen ones.

    A part without sources has no scores.
    """

    all: Evaluation
    seen: Evaluation
    unseen: Evaluation

    def as_dict(self) -> dict[str, Any]:
        """In JSON's terms: that of all, with the parts under `seen` and `unseen`."""
        return {
            **self.all.as_dict(),
            "seen": self.seen.as_dict(),
            "unseen": self.unseen.as_dict(),
        }


def evaluate_split(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    seen: Sequence[bool],
    *,
    names: Sequence[str] = METRICS,
    symbols: Splitter = spaced_symbols,
    moses: str | None = None,
    resamples: int = 0,
) -> Split:
    """Score outputs as `evaluate_texts` does, three times.

    seen: of each source, whether the model was trained on it.
    Other arguments and errors as of `evaluate_texts`.
    """
    check_answers(hypotheses, references)
    if len(seen) != len(references):
        raise ValueError(f"seen tells of {len(seen)} sources; there are {len(references)}")

    def part(chosen: Sequence[bool]) -> Evaluation:
        if not any(chosen):
            return NOTHING
        some, accepted = list(compress(hypotheses, chosen)), list(compress(references, chosen))
        return evaluate_texts(
            some, accepted, names=names, symbols=symbols, moses=moses, resamples=resamples
        )

    both = part([True] * len(seen))
    if len(set(seen)) == 1:
        return Split(both, both, NOTHING) if seen[0] else Split(both, NOTHING, both)
    return Split(both, part(seen), part([not each for each in seen]))
