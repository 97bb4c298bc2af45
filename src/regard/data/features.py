"""Features: what is asked of a source besides its text, as a tag that becomes symbols."""

import re
from functools import lru_cache

from regard.errors import UserError

OPEN, CLOSE = "(", ")"

_PARTS = re.compile(r"[()+/]|[^()+/;,|\s]+")


class FeaturesError(UserError):
    """A tag that cannot be taken apart. The message says what it has, and what would be right."""


@lru_cache(maxsize=65_536)
def parse_features(tag: str) -> tuple[str, ...]:
    """A tag as its symbols, in their order.

    `;`, `,`, `|` and white space part symbols, so that UniMorph's tags (`V;PST`), those of
    Universal Dependencies (`Case=Acc|Number=Sing`) and plain lists can all be read. Brackets are
    symbols of their own, and so are the signs that join values (`+`, `/`): the parts of a bundle
    are the symbols that they are outside of it, and what belongs to what can still be seen.
    `N;ABL(PL;PSS(2,PL))` is `N ABL ( PL PSS ( 2 PL ) )`. Empty parts are passed over.

    Raises FeaturesError when brackets do not match, or there is no symbol.
    """
    symbols = tuple(_PARTS.findall(tag))
    depth = 0
    for symbol in symbols:
        depth += (symbol == OPEN) - (symbol == CLOSE)
        if depth < 0:
            raise FeaturesError(
                f"features with a bracket that was not opened ({tag!r}); each ) needs its ("
            )
    if depth:
        raise FeaturesError(
            f"features with a bracket that is not closed ({tag!r}); each ( needs its )"
        )
    if not symbols:
        raise FeaturesError("no features; give some, as in V;PST")
    return symbols
