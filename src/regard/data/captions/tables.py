"""Tables: CSV and TSV with a column of images and one of captions."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.data.captions.columns import CAPTION_NAMES, IMAGE_NAMES, SPLIT, choose
from regard.data.captions.entry import Entry, check_image, split_name
from regard.data.lines import read_lines
from regard.errors import UserError

#: What may part the columns, and whether a cell in quotes may hold it, and line breaks.
QUOTED = {",": True, "\t": False, "|": False, ";": True}


@dataclass(frozen=True)
class _Header:
    """What parts the columns, and which are which, from 0."""

    separator: str
    columns: tuple[str, ...]
    image: int
    caption: int
    split: int | None


def is_table(line: str) -> bool:
    """Whether the first line of a file is a header that names images and captions."""
    return any(_has_both(_cells(line, separator)) for separator in QUOTED)


def read_table(path: Path, image: str | None = None, caption: str | None = None) -> Iterator[Entry]:
    """An entry for every row, as they come.

    image, caption: the names of their columns; None = those that are usual. A column `split` says
    which split an image is in. Raises UserError with file and line for rows with fewer or more
    cells than the header, for quotes that do not end, and for a header without these columns.
    """
    lines = read_lines(path)
    if not lines:
        raise UserError(f"{path} is empty; it should begin with a header such as image,caption")
    header = _header(lines[0], image, caption, str(path))
    for number, cells in _rows(lines, header, str(path)):
        place = f"{path}, line {number}"
        if len(cells) != len(header.columns):
            raise UserError(_uneven(cells, header, place))
        yield Entry(
            check_image(cells[header.image].strip(), place),
            (cells[header.caption],),
            place,
            split=None if header.split is None else split_name(cells[header.split], place),
        )


def _rows(lines: Sequence[str], header: _Header, origin: str) -> Iterator[tuple[int, list[str]]]:
    """The rows after the header, each with the line it begins at; blank lines are passed over."""
    rows = csv.reader(
        (f"{line}\n" for line in lines),
        delimiter=header.separator,
        quoting=csv.QUOTE_MINIMAL if QUOTED[header.separator] else csv.QUOTE_NONE,
        strict=True,
    )
    begins = 1
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise UserError(
                f"{origin}, line {begins}: {error}; a cell in quotes ends with a quote, and a "
                "quote inside it is written twice"
            ) from error
        if cells is None:
            return
        if begins > 1 and any(cell.strip() for cell in cells):
            yield begins, cells
        begins = rows.line_num + 1


def _header(line: str, image: str | None, caption: str | None, origin: str) -> _Header:
    """The header of a table, parted by whatever gives it the columns that are looked for."""
    parted = {separator: _cells(line, separator) for separator in QUOTED}
    separator = next(
        (s for s, cells in parted.items() if _has_both(cells)),
        max(QUOTED, key=lambda s: len(parted[s])),
    )
    columns = parted[separator]
    place = f"{origin}, line 1"
    lowered = [column.lower() for column in columns]
    return _Header(
        separator,
        tuple(columns),
        columns.index(choose(columns, image, IMAGE_NAMES, "image", place)),
        columns.index(choose(columns, caption, CAPTION_NAMES, "caption", place)),
        lowered.index(SPLIT) if SPLIT in lowered else None,
    )


def _cells(line: str, separator: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(separator)]


def _has_both(columns: Sequence[str]) -> bool:
    names = {column.lower() for column in columns}
    return not names.isdisjoint(IMAGE_NAMES) and not names.isdisjoint(CAPTION_NAMES)


def _uneven(cells: Sequence[str], header: _Header, place: str) -> str:
    """What to say of a row that has more or fewer cells than the header."""
    count = f"{len(cells)} cell" + "s" * (len(cells) != 1)
    said = f"{place}: {count}, and the header names {len(header.columns)} columns"
    sign = {"\t": "tab"}.get(header.separator, header.separator)
    if len(cells) < len(header.columns):
        return f"{said}; columns are parted by {sign!r}"
    if QUOTED[header.separator]:
        return f"{said}; a caption that holds {sign!r} stands in double quotes"
    return f"{said}; a caption cannot hold {sign!r}"
