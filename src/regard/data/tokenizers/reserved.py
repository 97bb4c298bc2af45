"""Characters that sentencepiece keeps for itself, exchanged for ones that no text holds.

Sentencepiece writes a space as U+2581, skips training lines with U+2585, takes tabs for marks of
its own and never learns NUL; a line feed ends its lines. Each goes in as a Unicode noncharacter
(U+FDD0...) and comes out as itself. A noncharacter in the text is never learned: it goes in as
U+2585, which is always unknown.
"""

import re

WORD_MARK = "\u2581"  # how sentencepiece, and everyone who reads subwords, marks a space
NEVER_LEARNED = "\u2585"

_KEPT = "\u2581\u2585\0\t\n"
_NONCHARACTERS = "".join(chr(0xFDD0 + index) for index in range(32))
_IN = str.maketrans(
    dict(zip(_KEPT, _NONCHARACTERS, strict=False)) | dict.fromkeys(_NONCHARACTERS, NEVER_LEARNED)
)
_OUT = str.maketrans(dict(zip(_NONCHARACTERS, _KEPT, strict=False)))
_RESERVED = re.compile(f"[{re.escape(_KEPT)}{_NONCHARACTERS}]")

#: Names of the specials inside a sentencepiece model: no text can spell them.
SPECIAL_PIECES = tuple(f"{_NONCHARACTERS[-1]}{name}" for name in ("pad", "unk", "s", "/s"))


def hide(text: str) -> str:
    """The text as sentencepiece may read it; as long as it was."""
    return text.translate(_IN) if _RESERVED.search(text) else text


def restore(text: str) -> str:
    """What was hidden, as it was."""
    return text.translate(_OUT)
