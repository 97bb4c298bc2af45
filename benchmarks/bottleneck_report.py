"""The tables of bottleneck.py."""

from collections.abc import Sequence
from typing import Any

from bottleneck_studies import LENGTHS, STRINGS, TRANSLATION
from string_report import head_cells, task_tables
from tables import table

Row = dict[str, Any]


def tables(rows: Sequence[Row]) -> str:
    """A heading and two tables for each part that anything was measured of."""
    made = task_tables(rows, STRINGS, LENGTHS)
    translators = [row for row in rows if row["part"] == TRANSLATION]
    if translators:
        made += ["### Translation: BLEU by words of the source", _translation_table(translators)]
    return "\n\n".join(made)


def _translation_table(rows: Sequence[Row]) -> str:
    names = list(rows[0]["figures"])
    lines = [
        [
            *head_cells(row),
            *(f"{row['figures'][name]['metrics']['bleu']['value']:.1f}" for name in names),
        ]
        for row in rows
    ]
    counts = ["texts", "", "", *(f"{rows[0]['figures'][name]['sources']:,}" for name in names)]
    return table(["recipe", "parameters", "training, s", *names], [*lines, counts])
