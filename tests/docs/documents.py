"""What the documents say, taken apart: code blocks, links, command lines, names."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MECHANISMS = ROOT / "docs" / "mechanisms"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def blocks(path: Path, language: str = "") -> list[str]:
    """The code blocks of a document that are marked with a language, or with none."""
    return [code for marked, code in _FENCE.findall(read(path)) if marked == language]


def prose(path: Path) -> str:
    """A document without its code blocks."""
    return _FENCE.sub("", read(path))


def inline(path: Path) -> list[str]:
    """What stands between backticks inside the prose."""
    return _INLINE.findall(prose(path))


def links(path: Path) -> list[str]:
    """Link targets and the sources of pictures, the ones in HTML too."""
    return [*_LINK.findall(prose(path)), *re.findall(r'(?:src|href)="([^"]+)"', prose(path))]


def anchors(path: Path) -> set[str]:
    """What a link may name behind `#`: headings, as GitHub writes them."""
    headings = _HEADING.findall(prose(path))
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}


def command_lines(path: Path) -> Iterator[list[str]]:
    """The arguments of every `regard` in the code blocks: pipes cut up, lines joined at `\\`."""
    for block in blocks(path):
        for line in re.sub(r"\s*\\\n\s*", " ", block).split("\n"):
            yield from _commands(re.split(r"(?<=\S)  ", line)[0])  # what follows only explains


def _commands(line: str) -> Iterator[list[str]]:
    if not re.search(r"(^|[\s(])(\S*/)?regard ", line) or line.startswith(" "):
        return
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    command: list[str] = []
    for word in [*lexer, ";"]:
        if set(word) <= set("();<>|&"):
            if command and command[0].endswith("regard"):
                yield command[1:]
            command = []
        elif command or word not in ("time", "nohup"):
            command.append(word)


def is_synopsis(arguments: list[str]) -> bool:
    """Whether a line tells what may be written, and is not to be typed as it is."""
    return any("[" in each.split("=")[0] or each.endswith("...") for each in arguments)
