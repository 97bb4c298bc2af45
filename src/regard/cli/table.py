"""Tables of plain text: the same in a terminal, a pipe and a file."""

from collections.abc import Sequence


def table(
    rows: Sequence[Sequence[str]], header: Sequence[str] = (), right: Sequence[int] = ()
) -> list[str]:
    """Lines of a table whose columns line up, two spaces apart, without trailing spaces.

    header: a first row, underlined. right: columns that are aligned to the right (numbers).
    """
    everything = [list(header), *rows] if header else list(rows)
    widths = [max(map(len, column)) for column in zip(*everything, strict=True)]
    lines = [_line(row, widths, right) for row in everything]
    if header:
        lines.insert(1, "  ".join("-" * width for width in widths))
    return lines


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    cells = (
        cell.rjust(width) if column in right else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()
