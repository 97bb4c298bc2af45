"""Files of word alignments: what aligners write, and gold ones in the formats they come in."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from regard.data.alignment import Alignment
from regard.data.lines import read_lines
from regard.errors import UserError
from regard.files import write_text

_LINK = re.compile(r"([0-9]+)([-p?])([0-9]+)")
_NUMBERED = re.compile(r"[0-9]+[ \t]+[0-9]+[ \t]+[0-9]+([ \t]+[SP])?([ \t]+[0-9.eE+-]+)?[ \t]*")


def parse_links(line: str) -> Alignment:
    """One line in Pharaoh format: `i-j` is a sure link, `ipj` or `i?j` a possible one, from 0.

    UserError if it is not.
    """
    sure: set[tuple[int, int]] = set()
    possible: set[tuple[int, int]] = set()
    for item in line.split():
        match = _LINK.fullmatch(item)
        if match is None:
            raise UserError(f"{item!r} is not a link: write i-j (sure) or ipj (possible), 0-based")
        link = (int(match[1]), int(match[3]))
        (sure if match[2] == "-" else possible).add(link)
    return Alignment(frozenset(sure), frozenset(possible - sure))


def format_links(links: Iterable[tuple[int, int]]) -> str:
    """Links as one line in Pharaoh format, sorted by source and then target: `0-0 1-2`."""
    return " ".join(f"{source}-{target}" for source, target in sorted(set(links)))


def read_alignments(path: Path, pairs: int | None = None) -> list[Alignment]:
    """The links of sentence pairs, in either format; UserError names the file and the line.

    Pharaoh format is a line for each pair (`parse_links`). The format of the shared tasks of 2003
    and 2005 (Mihalcea and Pedersen 2003) is a line for each link, `pair source target`, all from
    1, with `S` (sure, the default) or `P` (possible) behind it, and a confidence that is not read;
    pairs without links are left out. The first line that is not blank tells which it is.

    pairs: how many pairs there must be; None = as many as there are.
    """
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    if _NUMBERED.fullmatch(first):
        return _numbered(path, lines, pairs)
    if pairs is not None and len(lines) != pairs:
        raise UserError(
            f"{path} has {len(lines):,} lines for {pairs:,} pairs: there must be one for each, "
            "empty where there are no links"
        )
    alignments = []
    for number, line in enumerate(lines, start=1):
        try:
            alignments.append(parse_links(line))
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error}") from error
    return alignments


def write_alignments(path: Path, alignments: Iterable[Iterable[tuple[int, int]]]) -> None:
    """Write one line of `i-j` links a sentence pair, an empty line where there are none."""
    write_text(path, "".join(format_links(links) + "\n" for links in alignments))


def _numbered(path: Path, lines: Sequence[str], pairs: int | None) -> list[Alignment]:
    found: dict[int, dict[str, set[tuple[int, int]]]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        cells = line.split()
        if not _NUMBERED.fullmatch(line) or "0" in {cell.lstrip("0") or "0" for cell in cells[:3]}:
            raise UserError(
                f"{path}, line {number}: {line!r} is not a link: write pair, source word and "
                "target word, all from 1, then S or P"
            )
        pair, source, target = map(int, cells[:3])
        if pairs is not None and pair > pairs:
            raise UserError(f"{path}, line {number}: pair {pair} of {pairs:,} pairs")
        mark = "P" if cells[3:4] == ["P"] else "S"
        found.setdefault(pair, {"S": set(), "P": set()})[mark].add((source - 1, target - 1))
    count = max(found, default=0) if pairs is None else pairs
    nothing: dict[str, set[tuple[int, int]]] = {"S": set(), "P": set()}
    marked = (found.get(pair, nothing) for pair in range(1, count + 1))
    return [Alignment(frozenset(m["S"]), frozenset(m["P"] - m["S"])) for m in marked]
