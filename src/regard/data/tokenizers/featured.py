"""A source's tokenizer with feature symbols behind its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.data.tokenizers.features import FeatureSymbols
from regard.data.tokenizers.protocol import Tokenized, Tokenizer

FEATURES = "features.json"


@dataclass(frozen=True)
class FeaturedTokenizer:
    """Reads texts as `base` does; its vocabulary goes on with the symbols of features.

    What `encode`, `sample` and `tokenize` give is of the text alone: `Tokenizers.encode_sources`
    and `tokenize_source` put a tag's symbols before it.
    """

    base: Tokenizer
    features: FeatureSymbols

    @property
    def kind(self) -> str:
        return self.base.kind

    @property
    def size(self) -> int:
        return self.base.size + self.features.size

    def encode(self, text: str) -> list[int]:
        return self.base.encode(text)

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        return self.base.encode_all(texts)

    def sample(self, text: str) -> list[int]:
        return self.base.sample(text)

    def sample_all(self, texts: Sequence[str]) -> list[list[int]]:
        return self.base.sample_all(texts)

    def tokenize(self, text: str) -> Tokenized:
        return self.base.tokenize(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self.base.decode([number for number in ids if number < self.base.size])

    def describe(self, ids: Sequence[int]) -> Tokenized:
        told = self.base.describe([number for number in ids if number < self.base.size])
        texts = iter(zip(told.tokens, told.words, strict=True))
        both = [
            next(texts) if number < self.base.size else (self.features.shown(number), -1)
            for number in ids
        ]
        return Tokenized(tuple(ids), tuple(t for t, _ in both), tuple(w for _, w in both))

    def token_ids(self, tokens: Sequence[str]) -> list[int]:
        return self.base.token_ids(tokens)

    def save(self, directory: Path, name: str) -> None:
        self.base.save(directory, name)
        self.features.save(directory / FEATURES)
