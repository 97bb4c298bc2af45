"""Tokens as labels: every character visible, lengths known, nothing that breaks a layout."""

import unicodedata
from collections.abc import Iterator

_JOINERS = frozenset("\u200c\u200d")  # zero-width non-joiner and joiner: they shape their neighbors
_ARABIC_SIGNS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")
_NARROW = frozenset("iIlj|.,:;!'`()[]/tfr ")
_WIDE = frozenset("mwMW@%")


def visible(token: str) -> str:
    """A token as a label: spaces as `␣`, control characters as pictures, the unseen as codes.

    A combining mark that starts a token sits on a dotted circle. An empty token is `∅`.
    """
    if not token:
        return "∅"
    alone = all(_is_unseen(character) for character in token)
    shown = "".join(_shown(character, keep_joiners=not alone, token=True) for character in token)
    return "◌" + shown if unicodedata.category(token[0]).startswith("M") and not alone else shown


def printable(text: str) -> str:
    """A sentence that can be shown and stored anywhere: only characters that no page or picture
    can hold, or that change the direction of what follows, become pictures or codes."""
    return "".join(_shown(character, keep_joiners=True, token=False) for character in text)


def is_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction runs right to left (rules P2 and P3 of UAX 9)."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False


def clusters(text: str) -> Iterator[str]:
    """What a reader takes for single characters: letters with their marks, joined emoji, flags."""
    cluster = ""
    for character in text:
        if cluster and not _continues(cluster, character):
            yield cluster
            cluster = ""
        cluster += character
    if cluster:
        yield cluster


def display_width(text: str) -> float:
    """About how wide a text is, in ems of a common sans serif."""
    return sum(_cluster_width(cluster) for cluster in clusters(text))


def shortened(text: str, width: float) -> str:
    """The text itself when it fits in `width` ems, else its beginning and an ellipsis."""
    if display_width(text) <= width:
        return text
    kept, used = "", 1.0
    for cluster in clusters(text):
        used += _cluster_width(cluster)
        if used > width:
            break
        kept += cluster
    return kept + "…"


def _shown(character: str, *, keep_joiners: bool, token: bool) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if character == " ":
        return "␣" if token else " "
    category = unicodedata.category(character)
    if category in ("Cc", "Cs", "Co", "Zl", "Zp") or _is_noncharacter(code):
        return _code(code)
    if category == "Zs":
        return _code(code) if token else character
    if category == "Cf":
        kept = character in _ARABIC_SIGNS or (keep_joiners and _shapes_neighbors(character))
        return character if kept else _code(code)
    if _is_variation_selector(code) and not keep_joiners:
        return _code(code)
    return character


def _code(code: int) -> str:
    return f"‹U+{code:04X}›"


def _is_noncharacter(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _is_variation_selector(code: int) -> bool:
    return 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF


def _shapes_neighbors(character: str) -> bool:
    return character in _JOINERS or 0xE0020 <= ord(character) <= 0xE007F  # tags of flags


def _is_unseen(character: str) -> bool:
    return _shapes_neighbors(character) or _is_variation_selector(ord(character))


def _continues(cluster: str, character: str) -> bool:
    """Whether a character belongs to the cluster before it (a short form of UAX 29's rules)."""
    code = ord(character)
    if unicodedata.category(character).startswith("M") or _is_unseen(character):
        return True
    if 0x1F3FB <= code <= 0x1F3FF or cluster[-1] == "\u200d":  # skin tones, joined emoji
        return True
    return len(cluster) == 1 and _is_regional(code) and _is_regional(ord(cluster))


def _is_regional(code: int) -> bool:
    return 0x1F1E6 <= code <= 0x1F1FF


def _cluster_width(cluster: str) -> float:
    first = cluster[0]
    if unicodedata.east_asian_width(first) in ("W", "F") or _is_regional(ord(first)):
        return 1.2 if ord(first) >= 0x1F000 else 1.0
    if first in _NARROW:
        return 0.38
    if first in _WIDE:
        return 0.95
    if first.isupper() or unicodedata.category(first) in ("Sm", "So"):
        return 0.74
    return 0.6
