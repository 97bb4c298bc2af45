"""What was found out about a model on some data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.report.history import History

if TYPE_CHECKING:
    from regard.evaluation import Confusions, Evaluation, Pointing, Score
    from regard.evaluation.attention_entropy import HeadEntropies
    from regard.evaluation.by_length import LengthGroup
    from regard.evaluation.extremes import Extremes
    from regard.evaluation.trust import Trust
    from regard.views import AttentionView


@dataclass(frozen=True)
class Lengths:
    """The score of short sources and of long ones. unit: what lengths are counted in."""

    unit: str
    groups: Sequence[LengthGroup]


@dataclass(frozen=True)
class Alignments:
    """Alignment error rate, precision and recall: of attention, and of the nearest diagonal.

    sizes: how much was graded, in words.
    """

    attention: Sequence[Score]
    diagonal: Sequence[Score]
    sizes: str


@dataclass(frozen=True)
class Findings:
    """Everything that a report tells.

    A text in place of a finding says why there is none; None, that a model of its kind has none.

    subject: what was measured on what, in words. name: of the model.
    sources: that examples are indices of, as they are shown.
    remarks: on the scores. wording: rows on how captions are worded, below their header; none for
        texts.
    card: names and values that describe the model. configuration: its config.yaml.
    """

    name: str
    subject: str
    sources: Sequence[str]
    scores: Evaluation
    remarks: Sequence[str]
    wording: Sequence[Sequence[str]]
    history: History | str
    lengths: Lengths | str | None
    extremes: Extremes | str
    confusions: Confusions | str | None
    examples: Sequence[AttentionView] | str
    alignments: Alignments | str | None
    pointing: Pointing | str | None
    entropies: Sequence[HeadEntropies] | str
    trust: Trust | str
    card: Sequence[tuple[str, str]]
    configuration: str
