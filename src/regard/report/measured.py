"""Sections of a report: how good the outputs are, and how the model came to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regard.report.findings import Findings, Lengths
from regard.report.history import History
from regard.views.charts import DotChart, LineChart
from regard.views.report_html import Section, Table

if TYPE_CHECKING:
    from regard.evaluation import Confusions, Score
    from regard.evaluation.extremes import Extremes, Rated


def scores(found: Findings) -> Section:
    """The figures of `regard evaluate`."""
    rows = tuple(
        (each.name, f"{each.value:.2f}", between(each), each.better, each.signature or "")
        for each in found.scores.scores
    )
    header = ("metric", "%", "95 % interval", "better", "signature")
    sizes = f"{found.scores.sources:,} sources, {found.scores.references:,} accepted targets."
    tables = [Table(header, rows, numbers=(1,))]
    if found.wording:
        first, *rest = (tuple(row) for row in found.wording)
        numbers = tuple(range(1, len(first)))
        tables.append(Table(first, tuple(rest), numbers, caption="How captions are worded"))
    return Section("Scores", (sizes, *found.remarks), tables=tuple(tables))


def between(score: Score) -> str:
    """`34.1 to 36.2`, or nothing without an interval."""
    interval = score.interval
    return "" if interval is None else f"{interval.low:.2f} to {interval.high:.2f}"


def curves(history: History | str) -> Section:
    """Loss and metric, against updates and minutes."""
    heading = "Learning curves"
    if isinstance(history, str):
        return Section(heading, (history,))
    if history.is_empty:
        return Section(heading, ("Training ended before its first figures were logged.",))
    named = (
        ("training loss", "updates", history.loss_by_update),
        ("training loss", "minutes of training", history.loss_by_minute),
        (f"{history.metric}, validation", "updates", history.metric_by_update),
        (f"{history.metric}, validation", "minutes of training", history.metric_by_minute),
    )
    charts = tuple(LineChart(*each) for each in named if each[2])
    last = [
        f"{name}: {points[-1][1]:.4g} after {points[-1][0]:,.0f} updates."
        for name, x, points in named
        if points and x == "updates"
    ]
    return Section(heading, (" ".join(last),), charts=charts)


def by_length(lengths: Lengths | str) -> Section:
    """The score of each group of lengths, drawn and listed."""
    heading = "By source length"
    if isinstance(lengths, str):
        return Section(heading, (lengths,))
    groups = [
        (
            f"{each.shortest}"
            if each.shortest == each.longest
            else f"{each.shortest}\u2013{each.longest}",
            each,
        )
        for each in lengths.groups
    ]
    values = tuple(
        (
            name,
            each.score.value,
            None
            if each.score.interval is None
            else (each.score.interval.low, each.score.interval.high),
        )
        for name, each in groups
    )
    metric = lengths.groups[0].score.name
    rows = tuple(
        (name, f"{each.sources:,}", f"{each.score.value:.2f}", between(each.score))
        for name, each in groups
    )
    return Section(
        heading,
        charts=(DotChart(f"{metric}, %", lengths.unit, values),),
        tables=(
            Table((lengths.unit, "sources", metric, "95 % interval"), rows, numbers=(0, 1, 2)),
        ),
    )


def extremes(found: Findings) -> Section:
    """The best and the worst outputs."""
    heading, rated = "Best and worst", found.extremes
    if isinstance(rated, str):
        return Section(heading, (rated,))
    how = (
        f"Each output rated by itself, by {rated.name}. Of equally good ones the longest are shown."
    )
    tables = [
        _examples(found, rated, some, caption)
        for caption, some in (("Worst", rated.worst), ("Best", rated.best))
        if some
    ]
    return Section(heading, (how,), tables=tuple(tables))


def _examples(found: Findings, rated: Extremes, some: tuple[Rated, ...], caption: str) -> Table:
    rows = tuple(
        (f"{each.value:.1f}", found.sources[each.index], each.target, each.output) for each in some
    )
    return Table((rated.name, "source", "closest target", "output"), rows, (0,), caption)


def confusions(found: Findings) -> Section:
    """The most frequent edits between targets and outputs."""
    heading, edits = "Most confused symbols", found.confusions
    if edits is None or isinstance(edits, str):
        return Section(heading, () if edits is None else (edits,))
    total = (
        f"{edits.edits:,} edits turn the closest targets into the outputs: "
        f"{edits.substitutions:,} substitutions, {edits.deletions:,} deletions, "
        f"{edits.insertions:,} insertions."
    )
    return Section(heading, (total,), tables=(_edits(found, edits),) if edits.edits else ())


def _edits(found: Findings, edits: Confusions) -> Table:
    from regard.views.labels import visible

    rows = tuple(
        (
            each.edit,
            "" if each.expected is None else visible(each.expected),
            "" if each.given is None else visible(each.given),
            f"{each.count:,}",
            f"{each.share:.2f}",
            found.sources[each.example],
            each.target,
            each.output,
        )
        for each in edits.most_frequent
    )
    header = ("edit", "expected", "given", "count", "% of edits", "example", "target", "output")
    return Table(header, rows, numbers=(3, 4))
