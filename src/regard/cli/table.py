"""Tables of plain text: the same in a terminal, a pipe and a file."""

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.evaluation import Score


def table(
    rows: Sequence[Sequence[str]], header: Sequence[str] = (), right: Sequence[int] = ()
) -> list[str]:
    """Lines of a table whose columns line up, two spaces apart, without trailing spaces.

    header: a first row, underlined. right: columns that are aligned to the right (numbers).
    """
    everything = [list(header), *rows] if header else list(rows)
    widths = [max(map(_width, column)) for column in zip(*everything, strict=True)]
    lines = [_line(row, widths, right) for row in everything]
    if header:
        lines.insert(1, "  ".join("-" * width for width in widths))
    return lines


def interval_text(score: "Score") -> str:
    """`34.1 to 36.2`, or nothing without an interval."""
    return (
        "" if score.interval is None else f"{score.interval.low:.2f} to {score.interval.high:.2f}"
    )


def without(index: int, cells: Sequence[str]) -> list[str]:
    """The cells but one."""
    return [*cells[:index], *cells[index + 1 :]]


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    cells = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - _width(cell))
        cells.append(space + cell if column in right else cell + space)
    return "  ".join(cells).rstrip()


def _width(cell: str) -> int:
    """How many columns a terminal gives to a text."""
    return len(cell) if cell.isascii() else sum(map(_character_width, cell))


def _character_width(character: str) -> int:
    joins = "\u1160" <= character <= "\u11ff"  # vowels and finals of hangul, drawn into the initial
    if joins or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
