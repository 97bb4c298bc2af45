"""Unseen symbols: what a text holds that a vocabulary does not."""

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
