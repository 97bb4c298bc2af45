"""How far to trust attention, in words and rows: for tables and pages."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.evaluation.trust import Trust

#: In words, what is done to a position.
WAYS = {"hidden": "hidden from attention", "removed": "removed from the source"}
HEADER = ("each position", "ranked by", "Kendall's tau", "95 % interval", "same position, %")


def trust_rows(trust: "Trust") -> list[list[str]]:
    """A row for attention and one for random weights, by each way; the cells of `HEADER`."""
    rows = []
    for how, agreement in trust.attention.items():
        for name, each in (("attention", agreement), ("random weights", trust.random[how])):
            interval = each.correlation.interval
            between = "" if interval is None else f"{_two(interval.low)} to {_two(interval.high)}"
            tau, same = _two(each.correlation.value), f"{each.same.value:.1f}"
            rows.append([WAYS[how], name, tau, between, same])
    return rows


def trust_sizes(trust: "Trust") -> str:
    """How much was looked at, and what was not ranked."""
    sizes = f"{_counted(trust.sources, 'source')}, {_counted(trust.steps, 'written token')}"
    if trust.single:
        sizes += f"; {_counted(trust.single, 'source')} of one token left out"
    if trust.at_end is not None:
        sizes += f"; not ranked: the end symbol, which gets {trust.at_end:.1f} % of attention"
    return sizes


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _two(number: float) -> str:
    """Two digits, and no minus before a zero."""
    return f"{round(number, 2) + 0.0:.2f}"
