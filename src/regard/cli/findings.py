"""What a report tells of a model of texts: everything `evaluate` measures, and what to look at."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.reading import counted
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Model, Translation
    from regard.data.pairs import Pairs
    from regard.evaluation.aligning import Unit
    from regard.evaluation.attention_entropy import HeadEntropies
    from regard.evaluation.extremes import Extremes
    from regard.report import Alignments, Findings, History, Lengths
    from regard.views import AttentionView

#: Most confusions that are listed.
CONFUSIONS = 20
#: Outputs that are drawn; sources whose heads are looked into.
DRAWN, LOOKED_INTO = 4, 50
#: Most tokens of what is drawn: more fit no screen.
_DRAWN_TOKENS = 60


@dataclass(frozen=True)
class Measuring:
    """How a report is measured.

    subject: what was measured on what, in words; `measured on` comes before it.
    trusted: most sources for how far attention is to be trusted.
    search: beam, length penalty and batch size.
    unit: what true alignments link.
    quiet: whether nothing is told of symbols never seen.
    """

    subject: str
    trusted: int
    resamples: int
    search: dict[str, Any]
    unit: Unit = "word"
    quiet: bool = False


def text_findings(
    model: Model, runs: Sequence[Path], pairs: Pairs, gold: Path | None, how: Measuring
) -> Findings:
    """Answer the sources of pairs, and find out all that there is.

    gold: the true alignments of the pairs, if known. Raises UserError as `evaluate`.
    """
    from regard.cli.figures import measure
    from regard.cli.unseen import check_answered
    from regard.report import Findings

    asked = pairs.questions()
    started = time.perf_counter()
    answers = model.translate(
        asked.sources(), features=asked.features(), attention=False, **how.search
    )
    seconds = time.perf_counter() - started
    _check(answers, asked) if how.quiet else check_answered(answers, asked)
    texts = [answer.text for answer in answers]
    given = dict(zip(asked.identities(), texts, strict=True))
    figures = measure(
        model,
        given,
        pairs,
        None,
        every_pair=False,
        confusions=CONFUSIONS,
        resamples=how.resamples,
    )
    references = pairs.references()[1]
    unreachable = figures.coverage.unreachable
    return Findings(
        name=names(runs),
        subject=f"Measured on {how.subject}.",
        sources=[f"{text} [{tag}]" if tag else text for text, tag in asked.identities()],
        scores=figures.evaluation,
        remarks=[figures.coverage.unreachable_message("sources")] if unreachable else [],
        wording=(),
        history=history(runs, model.configuration.training.metric),
        lengths=_lengths(model, asked, texts, references, how.resamples),
        extremes=_extremes(model, texts, references),
        confusions=figures.confusions or "None were counted.",
        examples=_examples(model, asked, how),
        alignments=_alignments(model, pairs, gold, how),
        pointing=None,
        entropies=_entropies(model, asked, how),
        trust=_trust(model, asked, how),
        **card(model, runs, len(asked), seconds),
    )


def names(runs: Sequence[Path]) -> str:
    """The runs, as a heading."""
    return " + ".join(run.resolve().name for run in runs)


def history(runs: Sequence[Path], metric: str) -> History | str:
    """The curves of a run, or why there are none."""
    from regard.report import read_history

    if len(runs) > 1:
        return "These are several models: how each was trained stands in a report of its own."
    lines = _metrics(runs[0])
    return lines if isinstance(lines, str) else read_history(lines, metric)


def card(model: Model, runs: Sequence[Path], answered: int, seconds: float) -> dict[str, Any]:
    """The fields of the card: what `info` tells of each run, how fast it answered, config.yaml."""
    import torch

    from regard.cli.info import collect_from, information
    from regard.training.run import CONFIGURATION

    rows: list[tuple[str, str]] = []
    for run in runs:
        lines = _metrics(run)
        known = collect_from(run, [] if isinstance(lines, str) else lines)
        if isinstance(lines, str):
            parameters = sum(each.numel() for each in model.network.parameters())
            known["parameters"] = parameters if len(runs) == 1 else None
            unknown = ("training", "model")  # nothing is known: not that there is nothing
            rows += [row for row in information(known) if row[0] not in unknown]
            rows.append(("training", lines))
        else:
            rows += information(known)
    threads = counted(torch.get_num_threads(), "thread")
    speed = f"{answered / max(seconds, 1e-9):,.1f} sources a second here, {threads}"
    rows.append(("answering", speed))
    texts = [(run / CONFIGURATION).read_text(encoding="utf-8") for run in runs]
    return {
        "card": [(name or "description", value) for name, value in rows],
        "configuration": "\n".join(texts),
    }


def _metrics(run: Path) -> list[dict[str, Any]] | str:
    """The lines of metrics.jsonl, or why there are none."""
    from regard.training.metrics import read_metrics
    from regard.training.run import METRICS

    path = run / METRICS
    if not path.exists():
        return f"Unknown: {path.name} is not in the run directory."
    try:
        return read_metrics(path)
    except UserError as error:
        return f"Unknown: {error}."


def _check(answers: Sequence[Translation], asked: Pairs) -> None:
    for index, answer in enumerate(answers):
        if answer.problem is not None:
            raise UserError(f"{asked.place(index)}: the source has {answer.problem}")


def _lengths(
    model: Model,
    asked: Pairs,
    texts: Sequence[str],
    references: Sequence[Sequence[str]],
    resamples: int,
) -> Lengths:
    from regard.evaluation import METRICS, evaluate_texts, symbols_of
    from regard.evaluation.by_length import scores_by_length
    from regard.report import Lengths

    kind = model.tokenizers.source.kind
    cut, symbols = symbols_of(kind), symbols_of(model.tokenizers.target.kind)
    metric = model.configuration.training.metric
    chosen = metric if metric in METRICS else "chrf"

    def measure(outputs: list[str], accepted: list[Sequence[str]]) -> Any:
        options: Any = {"names": (chosen,), "symbols": symbols, "resamples": resamples}
        return evaluate_texts(outputs, accepted, **options).metric(chosen)

    lengths = [len(cut(source)) for source in asked.sources()]
    unit = "characters of the source" if kind == "character" else "words of the source"
    return Lengths(unit, scores_by_length(texts, references, lengths, measure))


def _extremes(model: Model, texts: Sequence[str], references: Sequence[Sequence[str]]) -> Extremes:
    from regard.evaluation import symbols_of
    from regard.evaluation.extremes import find_extremes

    kind = model.tokenizers.target.kind
    by_errors = model.configuration.training.metric in ("word_error_rate", "symbol_error_rate")
    by_errors = by_errors or kind == "character"
    return find_extremes(
        texts, references, symbols_of(kind), name="symbol_error_rate" if by_errors else "chrf"
    )


def _answered(
    model: Model, asked: Pairs, most: int, how: Measuring, longest: int | None = None
) -> list[tuple[str, str, Translation]]:
    """Some sources, spread evenly from the shortest to the longest, with features and answers."""
    from regard.training.validation import spread_evenly

    order = sorted(range(len(asked)), key=lambda index: (len(asked[index].source), index))
    some = [asked[order[index]] for index in spread_evenly(len(order), most)]
    features = [pair.features for pair in some] if asked.have_features else None
    answers = model.translate([pair.source for pair in some], features=features, **how.search)
    return [
        (pair.source, pair.features, answer)
        for pair, answer in zip(some, answers, strict=True)
        if answer.attention
        and (longest is None or max(len(answer.tokens), len(answer.source_tokens)) <= longest)
    ]


def _examples(model: Model, asked: Pairs, how: Measuring) -> list[AttentionView] | str:
    from regard.views.translation_view import translation_view

    views = [
        translation_view(f"{source} [{tag}]" if tag else source, answer.text, answer)
        for source, tag, answer in _answered(model, asked, DRAWN, how, _DRAWN_TOKENS)
    ]
    if views:
        return views
    if not _attends(model, asked, how):
        return NO_ATTENTION
    return f"None is drawn: sources or outputs have more than {_DRAWN_TOKENS} tokens."


#: What is said where attention should be.
NO_ATTENTION = "This model has no attention."


def _attends(model: Model, asked: Pairs, how: Measuring) -> bool:
    return bool(_answered(model, asked, 1, how))


def _entropies(model: Model, asked: Pairs, how: Measuring) -> list[HeadEntropies] | str:
    """Of every head; of a model that has no heads to tell apart, of what it shows."""
    from regard.evaluation.attention_entropy import entropies_by_head

    looks = []
    for source, tag, answer in _answered(model, asked, LOOKED_INTO, how):
        features = tag if asked.have_features else None
        stacks = model.look(source, answer.tokens, features=features).stacks
        looks.append(stacks or (shown_stack(answer.attention),))
    return entropies_by_head(looks) if looks else NO_ATTENTION


def shown_stack(attention: Any) -> Any:
    """`[tokens][positions]` as the only head of the only layer."""
    import numpy as np

    from regard.evaluation.attention_stack import AttentionStack

    return AttentionStack("cross", np.asarray(attention, dtype=np.float32)[None, None])


def _trust(model: Model, asked: Pairs, how: Measuring) -> Any:
    from regard.cli.trust_figures import trust_texts

    try:
        return trust_texts(model, asked, most=how.trusted, resamples=how.resamples, **how.search)
    except UserError as error:
        return f"Not measured: {error}."


def _alignments(model: Model, pairs: Pairs, gold: Path | None, how: Measuring) -> Alignments | str:
    from regard.cli.alignment_figures import measure_alignments
    from regard.report import Alignments

    if gold is None:
        return "Not measured: no true alignments were given (--alignments)."
    batch_size = how.search.get("batch_size", 64)
    found = measure_alignments(
        model, pairs, gold, None, unit=how.unit, batch_size=batch_size, resamples=how.resamples
    )
    sizes = (
        f"{counted(found.pairs, 'pair')}, {counted(found.sure, 'sure link')}, "
        f"{found.possible:,} possible."
    )
    return Alignments(found.measured, found.diagonal, sizes)
