"""The figures of an evaluation: measured, and told as tables or as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.cli.answers import json_line
from regard.cli.reading import counted
from regard.cli.table import interval_text, table, without
from regard.cli.trust_figures import trust_table

if TYPE_CHECKING:
    from regard.api import Model
    from regard.cli.alignment_figures import AlignmentFigures
    from regard.data.pairs import Pairs
    from regard.evaluation import Confusions, Evaluation, Split
    from regard.evaluation.trust import Trust
    from regard.training.coverage import Coverage

#: A source and its features.
Identity = tuple[str, str]


@dataclass(frozen=True)
class Beside:
    """The model beside the trivial baseline, over all sources and over the seen and unseen ones."""

    model: "Split"
    baseline: "Split"


@dataclass(frozen=True)
class Figures:
    """What is known of a model's answers to `sources`.

    beside: None where the training data are not known.
    confusions: None where they were not asked for.
    alignments: None where the true ones are not known.
    trust: None where it was not asked how far to trust attention.
    """

    sources: Sequence[str]
    evaluation: "Evaluation"
    coverage: "Coverage"
    beside: Beside | None
    confusions: "Confusions | None"
    alignments: "AlignmentFigures | None" = None
    trust: "Trust | None" = None

    def json(self) -> list[str]:
        """One line of JSON."""
        parts = self.evaluation.as_dict() | {"unreachable": self.coverage.unreachable}
        if self.beside is not None:
            parts |= self.beside.model.as_dict()
            parts["baseline"] = self.beside.baseline.as_dict()
        if self.confusions is not None:
            parts["confusions"] = self.confusions.as_dict(self.sources)
        if self.alignments is not None:
            parts["alignments"] = self.alignments.as_dict()
        if self.trust is not None:
            parts["trust"] = self.trust.as_dict()
        return [json_line(parts)]

    def tables(self) -> list[str]:
        """Tables, a blank line between them."""
        lines = metrics_table(self.evaluation)
        if self.coverage.unreachable:
            lines.append(self.coverage.unreachable_message("sources"))
        if self.beside is not None:
            lines += ["", *beside_table(self.beside)]
        if self.confusions is not None:
            lines += ["", *confusions_table(self.confusions, self.sources)]
        if self.alignments is not None:
            lines += ["", *self.alignments.table()]
        if self.trust is not None:
            lines += ["", *trust_table(self.trust)]
        return lines


def measure(
    model: "Model",
    answers: Mapping[Identity, str],
    pairs: "Pairs",
    learned: "Pairs | None",
    *,
    every_pair: bool,
    confusions: int | None,
    moses: str | None = None,
    resamples: int,
) -> Figures:
    """Measure a model's answers to pairs.

    answers: by source and features.
    learned: what the model was trained on, if that is known.
    every_pair: each pair counts on its own, with its own target alone.
    confusions: how many to list, None for no such list.
    moses: language of the targets, where BLEU in Moses' tokens is asked for.
    """
    from regard.data.batches import encode_pairs
    from regard.evaluation import evaluate_texts, find_confusions, symbols_of
    from regard.training.coverage import measure_coverage

    tokenizers = model.tokenizers
    symbols = symbols_of(tokenizers.target.kind)
    how: Any = {"symbols": symbols, "moses": moses, "resamples": resamples}
    asked, (sources, references) = pairs.questions().identities(), pairs.references()
    if every_pair:
        asked, sources = pairs.identities(), pairs.sources()
        references = [[target] for target in pairs.targets()]
    hypotheses = [answers[identity] for identity in asked]
    beside = None
    if learned is None:
        evaluation = evaluate_texts(hypotheses, references, **how)
    else:
        beside = _beside(hypotheses, references, asked, learned, **how)
        evaluation = beside.model.all
    examples = encode_pairs(pairs, tokenizers, opened=model.network.copies)
    coverage = measure_coverage(pairs, examples, tokenizers, every_pair=every_pair)
    found = None
    if confusions is not None:
        found = find_confusions(hypotheses, references, symbols, most=confusions)
    return Figures(sources, evaluation, coverage, beside, found)


def _beside(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    asked: Sequence[Identity],
    learned: "Pairs",
    **how: Any,
) -> Beside:
    from regard.evaluation import CopyOrMemorize, evaluate_split

    memory = CopyOrMemorize.train(learned.identities(), learned.targets())
    seen = [memory.has_seen(identity) for identity in asked]
    trivial = memory.answer(asked, [source for source, _ in asked])
    model, baseline = (
        evaluate_split(texts, references, seen, **how) for texts in (hypotheses, trivial)
    )
    return Beside(model, baseline)


def metrics_table(evaluation: "Evaluation") -> list[str]:
    """A row a metric, with its interval where there is one, and how much was measured."""
    with_intervals = any(score.interval is not None for score in evaluation.scores)
    header = ["metric", "%", "95 % interval", "better", "signature"]
    rows = [
        [
            score.name,
            f"{score.value:.2f}",
            interval_text(score),
            score.better,
            score.signature or "",
        ]
        for score in evaluation.scores
    ]
    if not with_intervals:
        header, rows = without(2, header), [without(2, row) for row in rows]
    sizes = (
        f"{counted(evaluation.sources, 'source')}, "
        f"{counted(evaluation.references, 'accepted target')}"
    )
    return [*table(rows, header=header, right=[1]), "", sizes]


def beside_table(beside: Beside) -> list[str]:
    """The model and the baseline by turns, over all sources and over each part of them."""
    names = [score.name for score in beside.model.all.scores]
    rows = []
    for part in ("all", "seen", "unseen"):
        for name, split in (("model", beside.model), ("copy or memorize", beside.baseline)):
            evaluation: Evaluation = getattr(split, part)
            if evaluation.sources:
                values = [f"{evaluation.metric(each).value:.2f}" for each in names]
            else:
                values = [""] * len(names)
            rows.append([part, f"{evaluation.sources:,}", name, *values])
    header = ["sources", "count", "answers", *names]
    return table(rows, header=header, right=[1, *range(3, len(header))])


def confusions_table(confusions: "Confusions", sources: Sequence[str]) -> list[str]:
    """A row a confusion, most frequent first, below a line that tells how many edits there are."""
    from regard.views.labels import printable, visible

    shown = len(confusions.most_frequent)
    kinds = [
        counted(confusions.substitutions, "substitution"),
        counted(confusions.deletions, "deletion"),
        counted(confusions.insertions, "insertion"),
    ]
    total = f"{counted(confusions.edits, 'edit')}: {', '.join(kinds)}"
    if not confusions.edits:
        return [total]
    rows = [
        [
            each.edit,
            "" if each.expected is None else visible(each.expected),
            "" if each.given is None else visible(each.given),
            f"{each.count:,}",
            f"{each.share:.2f}",
            *map(printable, (sources[each.example], each.target, each.output)),
        ]
        for each in confusions.most_frequent
    ]
    header = ["edit", "expected", "given", "count", "% of edits", "example", "target", "output"]
    which = f"; the {shown:,} most frequent of {confusions.kinds:,} kinds"
    rest = which if shown < confusions.kinds else ""
    return [total + rest, "", *table(rows, header=header, right=[3, 4])]
