"""What every tokenizer can do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from regard.data.special import END, PAD, SPECIAL_TOKENS, START, UNKNOWN


@dataclass(frozen=True)
class Tokenized:
    """A text as tokens.

    ids: into the vocabulary, without start and end unless they were given.
    tokens: what a person sees; the surface of an unseen symbol, not `<unk>`. Subwords keep the
        mark U+2581 where a word begins.
    words: the whitespace-separated word, an index into `text.split()`, that each token belongs to
        (the first one when it touches several); -1 for none: a space, a special symbol.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    words: tuple[int, ...]


class Tokenizer(Protocol):
    """Text to ids and back; normalization happens inside. Safe to share, except for `sample`.

    Ids 0 to 3 are the specials of `regard.data.special`. A symbol that the vocabulary lacks
    becomes UNKNOWN, never an error.
    """

    @property
    def kind(self) -> str:
        """`subword`, `character` or `space`."""

    @property
    def size(self) -> int:
        """Entries of the vocabulary, the four specials included."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without START and END; empty for a blank text of subwords."""

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` of each text, faster than one at a time."""

    def sample(self, text: str) -> list[int]:
        """`encode`, with a random segmentation when the configuration asks for subword sampling.

        Follows `regard.data.tokenizers.seed_sampling`.
        """

    def sample_all(self, texts: Sequence[str]) -> list[list[int]]:
        """`sample` of each text, faster than one at a time."""

    def tokenize(self, text: str) -> Tokenized:
        """The ids of `encode` with their surfaces and words."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, specials skipped, in the Unicode form that the training data had."""

    def describe(self, ids: Sequence[int]) -> Tokenized:
        """Decoded ids with their tokens (END is `</s>`) and their words in `decode(ids)`."""

    def token_ids(self, tokens: Sequence[str]) -> list[int]:
        """The ids behind `describe(ids).tokens`: a final `</s>` is END, an unseen token UNKNOWN."""

    def save(self, directory: Path, name: str) -> None:
        """Write the tokenizer into `directory`: `NAME.json`, for subwords `NAME.model` as well."""


def token_ids(tokens: Sequence[str], vocabulary: Mapping[str, int]) -> list[int]:
    """Ids of shown tokens: the vocabulary first, then the specials, and END only at the end."""
    specials = {SPECIAL_TOKENS[special]: special for special in (PAD, UNKNOWN, START)}
    ids = [vocabulary.get(token, specials.get(token, UNKNOWN)) for token in tokens]
    if tokens and tokens[-1] == SPECIAL_TOKENS[END]:
        ids[-1] = END
    return ids
