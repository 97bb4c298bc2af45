"""Tokens: Flickr8k's own captions file: `name.jpg#0`, a tab, the caption; also without `#0`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from regard.data.captions.entry import Entry, check_image
from regard.data.lines import read_lines
from regard.errors import UserError

_NUMBERED = re.compile(r"(?P<image>.+)#\d+")


def is_tokens(line: str) -> bool:
    """Whether the first line of a file begins with `name#number` and a tab."""
    return _NUMBERED.fullmatch(line.partition("\t")[0]) is not None and "\t" in line


def read_tokens(path: Path) -> Iterator[Entry]:
    """An entry for every line, as they come; blank lines are passed over.

    Raises UserError with file and line for one that is not `name#number<TAB>caption`.
    """
    for number, line in enumerate(read_lines(path), start=1):
        place = f"{path}, line {number}"
        name, tab, caption = line.partition("\t")
        match = _NUMBERED.fullmatch(name.strip())
        if not line.strip():
            continue
        if match is None or not tab:
            raise UserError(f"{place}: not NAME.jpg#NUMBER, a tab and a caption, as line 1 is")
        yield Entry(check_image(match["image"], place), (caption,), place)


def read_rows(path: Path) -> Iterator[Entry]:
    """An entry for every line `name<TAB>caption`, with further captions after further tabs.

    Blank lines are passed over. Raises UserError with file and line for one without a tab.
    """
    for number, line in enumerate(read_lines(path), start=1):
        place = f"{path}, line {number}"
        name, *captions = line.split("\t")
        if not line.strip():
            continue
        if not captions:
            raise UserError(f"{place}: no tab; a line is the name of an image, a tab, a caption")
        yield Entry(check_image(name.strip(), place), tuple(captions), place)
