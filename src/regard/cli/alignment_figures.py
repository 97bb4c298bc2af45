"""The figures of alignments against gold ones, beside those of a guess by position."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.reading import counted
from regard.cli.table import interval_text, table, without
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Model
    from regard.data.pairs import Pairs
    from regard.evaluation import Links, Score
    from regard.evaluation.aligning import Aligner, Unit


@dataclass(frozen=True)
class AlignmentFigures:
    """Figures over pairs whose true links are known.

    name: what is measured: `attention`, or the name of a file of links.
    measured, diagonal: alignment error rate, precision and recall, of it and of the diagonal.
    """

    name: str
    measured: "Sequence[Score]"
    diagonal: "Sequence[Score]"
    pairs: int
    sure: int
    possible: int

    def as_dict(self) -> dict[str, Any]:
        """In JSON's terms."""
        return {
            "links": self.name,
            "pairs": self.pairs,
            "sure": self.sure,
            "possible": self.possible,
            "metrics": {score.name: score.as_dict() for score in self.measured},
            "diagonal": {score.name: score.as_dict() for score in self.diagonal},
        }

    def table(self) -> list[str]:
        """A row for what is measured and one for the diagonal, and how much was measured."""
        rows = []
        for name, scores in ((self.name, self.measured), ("nearest diagonal", self.diagonal)):
            rate, *others = scores
            values = [f"{rate.value:.2f}", interval_text(rate)]
            rows.append([name, *values, *(f"{score.value:.2f}" for score in others)])
        header = ["links", "alignment_error_rate", "95 % interval", "precision", "recall"]
        if self.measured[0].interval is None:
            header, rows = without(2, header), [without(2, row) for row in rows]
        sizes = (
            f"{counted(self.pairs, 'pair')}, {counted(self.sure, 'sure link')}, "
            f"{self.possible:,} possible"
        )
        return [*table(rows, header=header, right=range(1, len(header))), "", sizes]


def measure_alignments(
    model: "Model",
    pairs: "Pairs",
    gold: Path,
    links: Path | None,
    *,
    unit: "Unit" = "word",
    batch_size: int,
    resamples: int,
) -> AlignmentFigures:
    """Measure the alignments that a model's attention makes of pairs, or those in a file.

    gold, links: a line for every pair of the data, blank ones too. unit: what they link. Raises
    UserError for what cannot be read or aligned.
    """
    from regard.cli.gold import read_gold
    from regard.evaluation import alignment_scores, diagonal

    aligner = model.aligner(pairs.features(), unit, batch_size)
    texts = [(pair.source, pair.target) for pair in pairs]
    lengths = aligner.lengths(texts)
    true = read_gold(gold, pairs, lengths, unit)
    if links is None:
        found = _aligned(aligner, pairs, texts)
    else:
        found = [each.links for each in read_gold(links, pairs, lengths, unit)]
    guess = [diagonal(source, target) for source, target in lengths]
    return AlignmentFigures(
        "attention" if links is None else str(links),
        alignment_scores(found, true, resamples=resamples),
        alignment_scores(guess, true, resamples=resamples),
        len(true),
        sum(len(each.sure) for each in true),
        sum(len(each.possible) for each in true),
    )


def _aligned(aligner: "Aligner", pairs: "Pairs", texts: Sequence[tuple[str, str]]) -> "list[Links]":
    from regard.evaluation.aligning import align_texts

    found = align_texts(aligner, texts, need_attention=False)
    for number, aligned in enumerate(found):
        if aligned.problem is not None:
            raise UserError(f"{pairs.origin}, {pairs.place(number)}: {aligned.problem}")
    return [frozenset(aligned.alignment) for aligned in found]
