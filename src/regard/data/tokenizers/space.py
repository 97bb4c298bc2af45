"""Symbols between spaces: phones, glosses, text that is tokens already."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.data.tokenizers.normalization import Normalizer, word_indices
from regard.data.tokenizers.protocol import Tokenized, token_ids
from regard.data.tokenizers.symbols import SymbolTable, parse_table, save_table


@dataclass(frozen=True)
class SpaceTokenizer:
    """A vocabulary of the symbols between spaces (U+0020 alone; runs of them count as one)."""

    table: SymbolTable
    normalizer: Normalizer
    kind: Literal["space"] = "space"

    @classmethod
    def train(
        cls, texts: Iterable[str], normalizer: Normalizer, minimum_count: int = 1
    ) -> "SpaceTokenizer":
        """The vocabulary of the symbols that occur at least `minimum_count` times."""
        symbols = (_split(normalizer.read(text)) for text in texts)
        return cls(SymbolTable.count(symbols, minimum_count), normalizer)

    @property
    def size(self) -> int:
        return len(self.table)

    def encode(self, text: str) -> list[int]:
        return self.table.encode(_split(self.normalizer.read(text)))

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def sample(self, text: str) -> list[int]:
        return self.encode(text)

    def sample_all(self, texts: Sequence[str]) -> list[list[int]]:
        return self.encode_all(texts)

    def tokenize(self, text: str) -> Tokenized:
        read, character_words = self.normalizer.read_words(text)
        symbols, words, start = [], [], 0
        for symbol in read.split(" "):
            if symbol:
                within = character_words[start : start + len(symbol)]
                symbols.append(symbol)
                words.append(next((word for word in within if word >= 0), -1))
            start += len(symbol) + 1
        return Tokenized(tuple(self.table.encode(symbols)), tuple(symbols), tuple(words))

    def decode(self, ids: Sequence[int]) -> str:
        return self.normalizer.write(" ".join(filter(None, self.table.surfaces(ids))))

    def describe(self, ids: Sequence[int]) -> Tokenized:
        words = word_indices(f"{surface} " for surface in self.table.surfaces(ids))
        return Tokenized(tuple(ids), tuple(self.table.shown(ids)), words)

    def token_ids(self, tokens: Sequence[str]) -> list[int]:
        return token_ids(tokens, self.table.ids)

    def save(self, directory: Path, name: str) -> None:
        head = {"kind": self.kind, "normalizer": vars(self.normalizer)}
        save_table(directory / f"{name}.json", self.table, head)

    @classmethod
    def parse(cls, data: dict[str, Any], normalizer: Normalizer, path: Path) -> "SpaceTokenizer":
        """The tokenizer in what `save` wrote at `path`. Raises UserError when it is damaged."""
        return cls(parse_table(data, path), normalizer)


def _split(text: str) -> list[str]:
    return [symbol for symbol in text.split(" ") if symbol]
