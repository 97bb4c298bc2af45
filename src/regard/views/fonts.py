"""Which installed fonts matplotlib needs for a text, and what none of them has."""

import unicodedata
from functools import lru_cache
from typing import Any

FIRST_FONT = "DejaVu Sans"  # comes with matplotlib
_LIKELY = ("noto sans", "noto", "dejavu", "arial unicode", "segoe ui", "hiragino", "pingfang")
_UNFIT = ("last resort", "lastresort")  # fonts of placeholders, which "have" every character
_MOST_OPENED = 40  # opening a font takes milliseconds, and a computer may have thousands
_HINTS = {"hiragana": "cjk", "katakana": "cjk", "hangul": "cjk", "fullwidth": "cjk"}


def choose_fonts(characters: frozenset[str]) -> tuple[list[str], frozenset[str]]:
    """Font families that together have the characters, and the characters that none has.

    matplotlib's own font comes first; others are opened, likely ones first, only when something
    is missing from it, and no more than forty.
    """
    from matplotlib import font_manager

    families = [FIRST_FONT]
    missing = characters - _characters(font_manager.findfont(FIRST_FONT))
    if not missing:
        return families, missing
    hints = frozenset(filter(None, map(_script, missing)))
    entries = {entry.name: entry for entry in font_manager.fontManager.ttflist if _fit(entry)}
    for name in sorted(entries, key=lambda name: _rank(name, hints))[:_MOST_OPENED]:
        added = missing & _characters(entries[name].fname)
        if added:
            families.append(name)
            missing -= added
        if not missing:
            break
    return families, missing


def _fit(entry: Any) -> bool:
    """Upright regular faces, one a family."""
    regular = entry.style == "normal" and entry.weight in (400, "normal", "regular", "book")
    return regular and entry.name != FIRST_FONT and not entry.name.lower().startswith(_UNFIT)


def _script(character: str) -> str:
    """A word that the name of a font for this character's script is likely to hold."""
    if unicodedata.category(character) == "So":
        return "symbol"
    word = unicodedata.name(character, "").split(" ")[0].lower()
    return _HINTS.get(word, word)


def _rank(name: str, hints: frozenset[str]) -> tuple[int, int, int, str]:
    lowered = name.lower()
    hinted = any(hint in lowered for hint in hints)
    likely = [place for place, start in enumerate(_LIKELY) if lowered.startswith(start)]
    return int(not hinted), min(likely, default=len(_LIKELY)), len(name), name


@lru_cache(maxsize=256)
def _characters(path: str) -> frozenset[str]:
    """The characters of a font with outlines; none when matplotlib cannot draw with it."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
        return frozenset(map(chr, font.get_charmap())) if font.scalable else frozenset()
    except (OSError, RuntimeError, ValueError):
        return frozenset()
