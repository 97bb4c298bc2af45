"""Feature symbols: a vocabulary of their own behind that of the source."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from regard.data.features import parse_features
from regard.data.tokenizers.protocol import Tokenized
from regard.data.tokenizers.symbols import SymbolTable, parse_table, save_table

#: How the symbol for all unseen features is shown where it is not known which one it was.
UNKNOWN_FEATURE = "<unknown feature>"


@dataclass(frozen=True)
class FeatureSymbols:
    """The symbols of features, whose ids follow those of the source's tokenizer.

    The id `first` stands for every symbol that was not seen in training, apart from the UNKNOWN of
    texts: so what is a feature can always be told by its id.

    first: how many ids the source's tokenizer has.
    """

    table: SymbolTable
    first: int

    @classmethod
    def train(cls, tags: Iterable[str], first: int, minimum_count: int = 1) -> "FeatureSymbols":
        """The symbols that occur at least `minimum_count` times, the most frequent first."""
        return cls(SymbolTable.count(map(parse_features, tags), minimum_count), first)

    @property
    def size(self) -> int:
        """How many ids there are, that of the unseen included."""
        return 1 + len(self.table.symbols)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of every symbol."""
        return {symbol: self.first + 1 + i for i, symbol in enumerate(self.table.symbols)}

    def encode(self, tag: str) -> list[int]:
        """The ids of a tag. Raises FeaturesError for one that cannot be taken apart."""
        return [self.ids.get(symbol, self.first) for symbol in parse_features(tag)]

    def tokenize(self, tag: str) -> Tokenized:
        """The ids of a tag with its symbols as they are, seen or not; none belongs to a word."""
        symbols = parse_features(tag)
        return Tokenized(tuple(self.encode(tag)), symbols, (-1,) * len(symbols))

    def unseen(self, tag: str) -> tuple[str, ...]:
        """The different symbols of a tag that were not seen in training, in their order."""
        return tuple(dict.fromkeys(s for s in parse_features(tag) if s not in self.ids))

    def shown(self, number: int) -> str:
        """An id from `first` on as a person sees it."""
        place = number - self.first
        return self.table.symbols[place - 1] if place else UNKNOWN_FEATURE

    def save(self, path: Path) -> None:
        """Write the symbols as JSON."""
        save_table(path, self.table, {"kind": "features"})

    @classmethod
    def parse(cls, data: dict[str, Any], first: int, path: Path) -> "FeatureSymbols":
        """The symbols in what `save` wrote at `path`. Raises UserError when it is damaged."""
        return cls(parse_table(data, path), first)
