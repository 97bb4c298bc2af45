"""Unseen symbols: what a text holds that a vocabulary does not."""

import unicodedata
from collections.abc import Sequence

from regard.data.special import UNKNOWN
from regard.data.tokenizers.protocol import Tokenizer


def unseen_symbols(tokenizer: Tokenizer, given: str | Sequence[str]) -> tuple[str, ...]:
    """The different symbols of a text, or of a list of tokens, that become UNKNOWN, in order."""
    if isinstance(given, str):
        read = tokenizer.tokenize(given)
        ids, tokens = read.ids, read.tokens
    else:
        ids, tokens = tuple(tokenizer.token_ids(given)), tuple(given)
    unknown = (token for number, token in zip(ids, tokens, strict=True) if number == UNKNOWN)
    return tuple(dict.fromkeys(unknown))


def named(symbols: Sequence[str], most: int = 8) -> str:
    """Symbols on one line for a message, what cannot be seen by its code points: `ż, U+200E`.

    Beyond `most` of them they are only counted.
    """
    shown = ", ".join(map(_name, symbols[:most]))
    rest = len(symbols) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def _name(symbol: str) -> str:
    alone = symbol[:1] and unicodedata.category(symbol[0]).startswith("M")
    if symbol.isprintable() and not symbol.isspace() and symbol != "," and not alone:
        return symbol
    return " ".join(f"U+{ord(character):04X}" for character in symbol)
