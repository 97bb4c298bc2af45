"""Tables of what models make of strings, by the length of the string."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.evaluation import character_symbols, symbol_error_rate
from strings import Task, strings_of
from tables import table

Row = dict[str, Any]


def task_tables(
    rows: Sequence[Row],
    tasks: Sequence[Task],
    lengths: Sequence[int],
    told: Mapping[str, str] | None = None,
) -> list[str]:
    """A heading and a table for each metric of each task that anything was measured of.

    told: further columns, headings and the keys of the rows.
    """
    made = []
    for task in tasks:
        here = [row for row in rows if row["part"] == task.name]
        if here:
            chance = by_chance(task, lengths)
            made += [
                f"### {task.name.capitalize()}: symbol error rate, %, by length",
                _table(here, "symbol_error_rate", lengths, told or {}, chance),
                f"### {task.name.capitalize()}: strings without a fault, %",
                _table(here, "exact_match", lengths, told or {}),
            ]
    return made


def head_cells(row: Row) -> list[str]:
    """What every row of a table of trainings begins with."""
    return [row["recipe"], f"{row['parameters']:,}", f"{row['seconds']:,.0f}"]


def by_chance(task: Task, lengths: Sequence[int]) -> list[float]:
    """Symbol error rates of answering with another string of the same length."""
    found = []
    for length in lengths:
        targets = strings_of(task, length, 20, seed=3).targets()
        others, wanted = [*targets[1:], targets[0]], [[target] for target in targets]
        found.append(symbol_error_rate(others, wanted, character_symbols).value)
    return found


def _table(
    rows: Sequence[Row],
    metric: str,
    lengths: Sequence[int],
    told: Mapping[str, str],
    chance: Sequence[float] = (),
) -> str:
    """A row for each training, and one for answering by chance."""
    lines = []
    for row in rows:
        more = [str(row[key]) for key in told.values()]
        found = [_cell(row, metric, length) for length in lengths]
        lines.append([*head_cells(row), *more, f"{row['longest']:,}", *found])
    if chance:
        blank = [""] * (3 + len(told))
        lines.append(["another string", *blank, *(f"{value:.1f}" for value in chance)])
    head = ["recipe", "parameters", "training, s", *told, "learned up to"]
    return table([*head, *(f"{length:,}" for length in lengths)], lines)


def _cell(row: Row, metric: str, length: int) -> str:
    figures = row["figures"].get(str(length))
    return "-" if figures is None else f"{figures['metrics'][metric]['value']:.1f}"
