"""Figures by the length of the source: what bottleneck.py and algorithms.py measured, as lines."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pictures.charts import SECOND, THIRD, chart
from regard.views.palette import ACCENT, MUTED

Row = dict[str, Any]
_COLORS = {
    "seq2seq": SECOND,
    "rnnsearch": ACCENT,
    "luong-general": THIRD,
    "luong-local-m": MUTED,
    "lstm-attention": THIRD,
    "transformer-tiny": SECOND,
    "universal-transformer": ACCENT,
    "universal-transformer-act": MUTED,
}
TICKS = (10, 20, 50, 100, 200, 500, 1000)


def strings(rows: Sequence[Row]) -> str:
    """A line of charts for each task on strings, one chart for each range learned from."""
    of_strings = [row for row in rows if row["longest"]]
    tasks = _in_order(row["part"] for row in of_strings)
    ranges = sorted({row["longest"] for row in of_strings})
    with chart(
        len(ranges), len(tasks), width=9.5, height=0.5 + 2.2 * len(tasks), sharex=True, sharey=True
    ) as made:
        places = [(task, longest) for task in tasks for longest in ranges]
        for (task, longest), axes in zip(places, made.axes, strict=True):
            here = [row for row in of_strings if (row["part"], row["longest"]) == (task, longest)]
            _lines(axes, here, TICKS, symbols_right)
            axes.set_xscale("log")
            _known(axes, TICKS, longest)
            axes.set_title(f"{task}, learned up to {longest:,}")
        made.axes[0].legend(fontsize=8)
        made.figure.supylabel("symbols right, %", fontsize=10)
        made.figure.supxlabel("length of the string", fontsize=10)
    return made.svg


def algorithms(rows: Sequence[Row], lengths: Sequence[int]) -> str:
    """A chart for each task: strings without a fault above, symbols right below."""
    tasks = _in_order(row["part"] for row in rows)
    shown = {"strings right, %": strings_right, "symbols right, %": symbols_right}
    with chart(len(tasks), 2, width=1 + 2.9 * len(tasks), height=5.0, sharey=True) as made:
        places = [(measure, task) for measure in shown for task in tasks]
        for (measure, task), axes in zip(places, made.axes, strict=True):
            here = [row for row in rows if row["part"] == task]
            _lines(axes, here, lengths, shown[measure])
            _known(axes, lengths, max(row["longest"] for row in here))
            axes.set_title(task if measure in list(shown)[:1] else "")
            if task == tasks[0]:
                axes.set_ylabel(measure)
        made.axes[0].legend(fontsize=8)
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


def symbols_right(figures: dict[str, Any]) -> float:
    """Of 100, by the symbol error rate."""
    return max(0.0, 100.0 - float(figures["metrics"]["symbol_error_rate"]["value"]))


def strings_right(figures: dict[str, Any]) -> float:
    """Of 100."""
    return float(figures["metrics"]["exact_match"]["value"])


def _lines(
    axes: Any,
    rows: Sequence[Row],
    lengths: Sequence[int],
    value: Callable[[dict[str, Any]], float],
) -> None:
    """A figure over lengths, as far as it was measured: a line for each training."""
    labels: set[str] = set()
    for row in rows:
        known = [length for length in lengths if str(length) in row["figures"]]
        found = [value(row["figures"][str(length)]) for length in known]
        label = None if row["recipe"] in labels else row["recipe"]
        labels.add(row["recipe"])
        color = _COLORS.get(row["recipe"], MUTED)
        axes.plot(known, found, "o-", color=color, markersize=3.5, label=label)
    axes.set_ylim(0, 103)


def _known(axes: Any, lengths: Sequence[int], longest: int) -> None:
    """Ticks at the lengths, and a shade over those that were learned from."""
    axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
    axes.set_xticks([], minor=True)
    axes.axvspan(lengths[0], longest, color=MUTED, alpha=0.1, linewidth=0)


def _in_order(names: Iterable[str]) -> list[str]:
    """Each name once."""
    return list(dict.fromkeys(names))
