"""A symbol table: the vocabulary of tokenizers whose symbols are in the text as they are."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from regard.data.special import SPECIAL_TOKENS, UNKNOWN
from regard.errors import UserError
from regard.files import write_text


@dataclass(frozen=True)
class SymbolTable:
    """Symbols by id; the first id is 4, after the specials. Any string may be a symbol."""

    symbols: tuple[str, ...]

    @classmethod
    def count(cls, texts: Iterable[Iterable[str]], minimum_count: int = 1) -> "SymbolTable":
        """The symbols of the texts, most frequent first, then by code point."""
        counts: Counter[str] = Counter()
        for symbols in texts:
            counts.update(symbols)
        kept = (symbol for symbol, count in counts.items() if count >= minimum_count)
        return cls(tuple(sorted(kept, key=lambda symbol: (-counts[symbol], symbol))))

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of every symbol."""
        first = len(SPECIAL_TOKENS)
        return {symbol: first + index for index, symbol in enumerate(self.symbols)}

    def __len__(self) -> int:
        return len(SPECIAL_TOKENS) + len(self.symbols)

    def encode(self, symbols: Iterable[str]) -> list[int]:
        """The id of each symbol, UNKNOWN for one that is not in the table."""
        ids = self.ids
        return [ids.get(symbol, UNKNOWN) for symbol in symbols]

    def shown(self, ids: Sequence[int]) -> list[str]:
        """Each id as a person sees it, specials as they are named."""
        first = len(SPECIAL_TOKENS)
        return [
            SPECIAL_TOKENS[number] if number < first else self.symbols[number - first]
            for number in ids
        ]

    def surfaces(self, ids: Sequence[int]) -> list[str]:
        """The text of each id: its symbol, nothing for a special."""
        first = len(SPECIAL_TOKENS)
        return ["" if number < first else self.symbols[number - first] for number in ids]


def save_table(path: Path, table: SymbolTable, head: dict[str, Any]) -> None:
    """Write a table as JSON, where every character survives, with other facts before it."""
    text = json.dumps({**head, "symbols": table.symbols}, ensure_ascii=True, indent=0)
    write_text(path, text + "\n")


def parse_table(data: dict[str, Any], path: Path) -> SymbolTable:
    """The table in what `save_table` wrote. Raises UserError when it is damaged."""
    symbols = data.get("symbols")
    if (
        not isinstance(symbols, list)
        or not all(isinstance(symbol, str) and symbol for symbol in symbols)
        or len(set(symbols)) != len(symbols)
    ):
        raise UserError(f"{path} is damaged: symbols should be a list of different strings")
    return SymbolTable(tuple(symbols))
