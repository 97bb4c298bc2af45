"""Characters: every Unicode code point of the text is a token, spaces too."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.data.tokenizers.normalization import Normalizer, word_indices
from regard.data.tokenizers.protocol import Tokenized, token_ids
from regard.data.tokenizers.symbols import SymbolTable, parse_table, save_table


@dataclass(frozen=True)
class CharacterTokenizer:
    """A vocabulary of code points. Nothing is joined or dropped: `decode(encode(x))` is x, read."""

    table: SymbolTable
    normalizer: Normalizer
    kind: Literal["character"] = "character"

    @classmethod
    def train(
        cls, texts: Iterable[str], normalizer: Normalizer, minimum_count: int = 1
    ) -> "CharacterTokenizer":
        """The vocabulary of the characters that occur at least `minimum_count` times."""
        return cls(SymbolTable.count(map(normalizer.read, texts), minimum_count), normalizer)

    @property
    def size(self) -> int:
        return len(self.table)

    def encode(self, text: str) -> list[int]:
        return self.table.encode(self.normalizer.read(text))

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def sample(self, text: str) -> list[int]:
        return self.encode(text)

    def sample_all(self, texts: Sequence[str]) -> list[list[int]]:
        return self.encode_all(texts)

    def tokenize(self, text: str) -> Tokenized:
        characters, words = self.normalizer.read_words(text)
        return Tokenized(tuple(self.table.encode(characters)), tuple(characters), tuple(words))

    def decode(self, ids: Sequence[int]) -> str:
        return self.normalizer.write("".join(self.table.surfaces(ids)))

    def describe(self, ids: Sequence[int]) -> Tokenized:
        words = word_indices(self.table.surfaces(ids))
        return Tokenized(tuple(ids), tuple(self.table.shown(ids)), words)

    def token_ids(self, tokens: Sequence[str]) -> list[int]:
        return token_ids(tokens, self.table.ids)

    def save(self, directory: Path, name: str) -> None:
        head = {"kind": self.kind, "normalizer": vars(self.normalizer)}
        save_table(directory / f"{name}.json", self.table, head)

    @classmethod
    def parse(
        cls, data: dict[str, Any], normalizer: Normalizer, path: Path
    ) -> "CharacterTokenizer":
        """The tokenizer in what `save` wrote at `path`. Raises UserError when it is damaged."""
        return cls(parse_table(data, path), normalizer)
