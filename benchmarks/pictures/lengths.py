"""Figures by the length of the source: what bottleneck.py measured, as lines."""

from collections.abc import Sequence
from typing import Any

from pictures.charts import SECOND, THIRD, chart
from regard.views.palette import ACCENT, MUTED

Row = dict[str, Any]
_COLORS = {
    "seq2seq": SECOND,
    "rnnsearch": ACCENT,
    "luong-general": THIRD,
    "luong-local-m": MUTED,
}
TICKS = (10, 20, 50, 100, 200, 500, 1000)


def strings(rows: Sequence[Row]) -> str:
    """A line of charts for each task on strings, one chart for each range learned from."""
    of_strings = [row for row in rows if row["longest"]]
    tasks = list(dict.fromkeys(row["part"] for row in of_strings))
    ranges = sorted({row["longest"] for row in of_strings})
    with chart(
        len(ranges), len(tasks), width=9.5, height=0.5 + 2.2 * len(tasks), sharex=True, sharey=True
    ) as made:
        places = [(task, longest) for task in tasks for longest in ranges]
        for (task, longest), axes in zip(places, made.axes, strict=True):
            here = [row for row in of_strings if (row["part"], row["longest"]) == (task, longest)]
            _strings(axes, here)
            axes.axvspan(TICKS[0], longest, color=MUTED, alpha=0.1, linewidth=0)
            axes.set_title(f"{task}, learned up to {longest:,}")
        made.axes[0].legend(fontsize=8)
        made.figure.supylabel("symbols right, %", fontsize=10)
        made.figure.supxlabel("length of the string", fontsize=10)
    return made.svg


def translation(rows: Sequence[Row]) -> str:
    """BLEU over the length of the source, a line for each recipe."""
    translators = [row for row in rows if not row["longest"]]
    names = list(translators[0]["figures"])
    with chart(width=7.0, height=3.0) as made:
        (axes,) = made.axes
        for row in translators:
            found = [row["figures"][name]["metrics"]["bleu"]["value"] for name in names]
            color = _COLORS.get(row["recipe"], MUTED)
            axes.plot(names, found, "o-", color=color, markersize=3.5, label=row["recipe"])
        axes.set_ylim(bottom=0)
        axes.set_ylabel("BLEU")
        axes.set_xlabel("words of the source; neighboring sentences joined")
        axes.legend()
    return made.svg


def _strings(axes: Any, rows: Sequence[Row]) -> None:
    """Symbols right over lengths, a line for each recipe."""
    for row in rows:
        right = [_right(row["figures"][str(length)]) for length in TICKS]
        color = _COLORS.get(row["recipe"], MUTED)
        axes.plot(TICKS, right, "o-", color=color, markersize=3.5, label=row["recipe"])
    axes.set_xscale("log")
    axes.set_xticks(TICKS, [f"{tick:,}" for tick in TICKS])
    axes.set_xticks([], minor=True)
    axes.set_ylim(0, 103)


def _right(figures: dict[str, Any]) -> float:
    return max(0.0, 100.0 - float(figures["metrics"]["symbol_error_rate"]["value"]))
