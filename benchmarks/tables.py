"""Tables for people: Markdown, columns aligned."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column to the left, the others, which are figures, to the right.

    >>> print(table(["size", "n"], [["a", "1"], ["b", "20"]]))
    | size |  n |
    |------|---:|
    | a    |  1 |
    | b    | 20 |
    """
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    rule = "|".join(
        "-" * (width + 2) if column == 0 else "-" * (width + 1) + ":"
        for column, width in enumerate(widths)
    )
    made = [_line(line, widths) for line in lines]
    return "\n".join([made[0], f"|{rule}|", *made[1:]])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
    return f"| {' | '.join(padded)} |"
