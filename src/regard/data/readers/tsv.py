"""Tab-separated columns, without a header and without quoting."""

import re
from itertools import combinations
from pathlib import Path

from regard.data.lines import read_lines
from regard.errors import UserError


def read_tsv(
    path: Path, source: str | None, target: str | None, features: str | None = None
) -> list[tuple[str, str, str]]:
    """Source, target and features of every row; other columns are ignored.

    Columns are numbered from 1: source 1 and target 2 by default, features none, which gives empty
    ones. Quotes are ordinary characters. An empty line is a blank pair. Raises UserError, with file
    and line, for a row that has too few columns, and for a column that is not a number or is asked
    for twice.
    """
    columns = {
        "source": column_number("source", source, 1, str(path)),
        "target": column_number("target", target, 2, str(path)),
    }
    if features is not None:
        columns["features"] = column_number("features", features, None, str(path))
    given = {"source": source, "target": target, "features": features}
    check_columns_differ(columns, given)
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        cells = split_row(line, columns, f"{path}, line {number}")
        rows.append((cells["source"], cells["target"], cells.get("features", "")))
    return rows


def split_row(line: str, columns: dict[str, int], place: str) -> dict[str, str]:
    """The cells of a row by what they are, `columns` saying where; all empty for a blank line.

    Raises UserError, naming the `place`, for a row that has too few columns.
    """
    cells = line.split("\t")
    needed = max(columns.values())
    if len(cells) < needed:
        if line.strip():
            have = f"{len(cells)} column" + "s" * (len(cells) > 1)
            missing = min(columns, key=lambda name: (columns[name] <= len(cells), columns[name]))
            what = " with the features" if missing == "features" else ""
            raise UserError(
                f"{place}: {have}, but column {columns[missing]}{what} is asked for; columns are "
                "separated by tabs"
            )
        cells = [""] * needed
    return {name: cells[column - 1] for name, column in columns.items()}


def check_columns_differ(columns: dict[str, int], given: dict[str, str | None]) -> None:
    """Raises UserError where a column stands for two things and one of them was not asked for.

    Source and target may be one column when both are named: a copy task. Features may not.
    """
    for name, other in combinations(columns, 2):
        if columns[name] != columns[other]:
            continue
        if given[name] is None or given[other] is None:
            asked, default = (name, other) if given[other] is None else (other, name)
            raise UserError(
                f"--{asked} {columns[asked]} is also the {default} column: give --{default} as well"
            )
        if other == "features":
            raise UserError(
                f"--features {columns[other]} is also the {name} column: name different columns"
            )


def column_number(name: str, given: str | None, default: int | None, origin: str) -> int:
    """The number of a column. Raises UserError for what is not a number from 1."""
    if given is None and default is not None:
        return default
    if given is None or not re.fullmatch(r"[1-9][0-9]{0,5}", given):
        usual = "" if default is None else f" (default {default})"
        raise UserError(
            f"--{name} {given}: {origin} is a TSV, whose columns are numbers from 1{usual}"
        )
    return int(given)
