"""The tables of bottleneck.py."""

from collections.abc import Sequence
from typing import Any

from bottleneck_studies import LENGTHS, TRANSLATION
from regard.evaluation import character_symbols, symbol_error_rate
from strings import TASKS, strings_of
from tables import table

Row = dict[str, Any]


def tables(rows: Sequence[Row]) -> str:
    """A heading and two tables for each part that anything was measured of."""
    made = []
    for task in TASKS:
        of_task = [row for row in rows if row["part"] == task]
        if of_task:
            made += [
                f"### {task.capitalize()}: symbol error rate, %, by length",
                _string_table(of_task, "symbol_error_rate", by_chance(task)),
                f"### {task.capitalize()}: strings without a fault, %",
                _string_table(of_task, "exact_match", None),
            ]
    translators = [row for row in rows if row["part"] == TRANSLATION]
    if translators:
        made += ["### Translation: BLEU by words of the source", _translation_table(translators)]
    return "\n\n".join(made)


def by_chance(task: str) -> list[float]:
    """Symbol error rates of answering with another string of the same length."""
    found = []
    for length in LENGTHS:
        targets = strings_of(task, length, 20, seed=3).targets()
        others, wanted = [*targets[1:], targets[0]], [[target] for target in targets]
        found.append(symbol_error_rate(others, wanted, character_symbols).value)
    return found


def _string_table(rows: Sequence[Row], metric: str, chance: list[float] | None) -> str:
    lines = []
    for row in rows:
        found = [row["figures"][str(length)]["metrics"][metric]["value"] for length in LENGTHS]
        lines.append([*_head(row), f"{row['longest']:,}", *(f"{value:.1f}" for value in found)])
    if chance is not None:
        lines.append(["another string", "", "", "", *(f"{value:.1f}" for value in chance)])
    head = ["recipe", "parameters", "training, s", "learned up to"]
    return table([*head, *(f"{length:,}" for length in LENGTHS)], lines)


def _translation_table(rows: Sequence[Row]) -> str:
    names = list(rows[0]["figures"])
    lines = [
        [
            *_head(row),
            *(f"{row['figures'][name]['metrics']['bleu']['value']:.1f}" for name in names),
        ]
        for row in rows
    ]
    counts = ["texts", "", "", *(f"{rows[0]['figures'][name]['sources']:,}" for name in names)]
    return table(["recipe", "parameters", "training, s", *names], [*lines, counts])


def _head(row: Row) -> list[str]:
    return [row["recipe"], f"{row['parameters']:,}", f"{row['seconds']:,.0f}"]
