"""Opening a vocabulary: symbols of a source that were never seen, as ids of that sentence alone.

For models that copy. A source id from `source.size` on stands for a symbol that the source's
vocabulary lacks: it is `source.size + t`, with t the symbol's id on the target side. Where the
target lacks it as well, t is `target.size + n` for the n-th such symbol of the sentence, in order
of first appearance.

Characters and symbols between spaces can be opened, where both sides are of one kind. Subwords
cannot: nearly everything is made of known pieces, and what is not has no fixed borders.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regard.data.special import SPECIAL_TOKENS, UNKNOWN
from regard.data.tokenizers.character import CharacterTokenizer
from regard.data.tokenizers.featured import FeaturedTokenizer
from regard.data.tokenizers.protocol import Tokenizer
from regard.data.tokenizers.sides import Tokenizers
from regard.data.tokenizers.space import SpaceTokenizer
from regard.data.tokenizers.symbols import SymbolTable

#: The entry of `copy_table` for what is never copied.
NEVER = -1


@dataclass(frozen=True)
class Opened:
    """A source with an id for every symbol.

    symbols: those that the target never saw; the n-th is the target's id `target.size + n`.
    """

    ids: tuple[int, ...]
    symbols: tuple[str, ...] = ()


def open_source(tokenizers: Tokenizers, text: str, ids: Sequence[int]) -> Opened:
    """Put ids of their own for each UNKNOWN in the `ids` of a source whose text is `text`.

    What stands around the text's ids, features and END, is left as it is; so is a source of
    subwords, or of another kind than the target.
    """
    target = tokenizers.target
    if UNKNOWN not in ids or not _can_open(tokenizers.source, target):
        return Opened(tuple(ids))
    read = tokenizers.source.tokenize(text)
    pairs = zip(read.ids, read.tokens, strict=True)
    unseen = iter([token for number, token in pairs if number == UNKNOWN])
    numbers: dict[str, int] = {}
    opened = []
    for number in ids:
        if number == UNKNOWN:
            symbol = next(unseen)
            known = _known(target, symbol)
            if known is None:
                known = target.size + numbers.setdefault(symbol, len(numbers))
            number = tokenizers.source.size + known
        opened.append(number)
    return Opened(tuple(opened), tuple(numbers))


def open_target(target: Tokenizer, symbols: Sequence[str]) -> Tokenizer:
    """The target's tokenizer with `symbols` behind its vocabulary, to read and write with."""
    if not symbols:
        return target
    assert isinstance(target, CharacterTokenizer | SpaceTokenizer)
    return replace(target, table=SymbolTable((*target.table.symbols, *symbols)))


def copy_table(tokenizers: Tokenizers) -> list[int]:
    """The target id of the same symbol for each id of the source, NEVER where there is none.

    Special symbols and features are never copied.
    """
    source, target = tokenizers.source, tokenizers.target
    features = tokenizers.features
    first, size = len(SPECIAL_TOKENS), source.size - (0 if features is None else features.size)
    table = [NEVER] * first
    if tokenizers.joint:
        table.extend(range(first, size))
    else:
        written = target.describe(range(first, target.size)).tokens
        ids = {symbol: number for number, symbol in reversed(list(enumerate(written, start=first)))}
        read = source.describe(range(first, size)).tokens
        table.extend(ids.get(symbol, NEVER) for symbol in read)
    return table + [NEVER] * (source.size - size)


def _can_open(source: Tokenizer, target: Tokenizer) -> bool:
    base = source.base if isinstance(source, FeaturedTokenizer) else source
    return isinstance(base, CharacterTokenizer | SpaceTokenizer) and base.kind == target.kind


def _known(target: Tokenizer, symbol: str) -> int | None:
    assert isinstance(target, CharacterTokenizer | SpaceTokenizer)
    return target.table.ids.get(symbol)
