"""Tab-separated columns, without a header and without quoting."""

import re
from pathlib import Path

from regard.data.lines import read_lines
from regard.errors import UserError


def read_tsv(path: Path, source: str | None, target: str | None) -> list[tuple[str, str]]:
    """The pairs in two columns, numbered from 1 (default 1 and 2); other columns are ignored.

    Quotes are ordinary characters. An empty line is a blank pair. Raises UserError, with file and
    line, for a row that has too few columns, and for a column that is not a number.
    """
    first = _column("source", source, 1, path)
    second = _column("target", target, 2, path)
    if first == second and (source is None or target is None):
        given, other = ("source", "target") if target is None else ("target", "source")
        raise UserError(f"--{given} {first} is also the {other} column: give --{other} as well")
    needed = max(first, second)
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) < needed:
            if line.strip():
                have = f"{len(columns)} column" + "s" * (len(columns) > 1)
                raise UserError(
                    f"{path}, line {number}: {have}, but column {needed} is asked for; columns "
                    "are separated by tabs"
                )
            columns = [""] * needed
        pairs.append((columns[first - 1], columns[second - 1]))
    return pairs


def _column(side: str, given: str | None, default: int, path: Path) -> int:
    if given is None:
        return default
    if not re.fullmatch(r"[1-9][0-9]{0,5}", given):
        raise UserError(
            f"--{side} {given}: {path} is a TSV, whose columns are numbers from 1 (default "
            f"{default})"
        )
    return int(given)
