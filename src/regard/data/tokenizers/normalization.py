"""Normalization: the Unicode form and case in which a tokenizer sees its text."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"(\s+)")


@dataclass(frozen=True)
class Normalizer:
    """What is read is brought to `form`, in lower case if asked; what is written, to `written`."""

    form: Literal["NFC", "NFD", "NFKC"] = "NFC"
    lowercase: bool = False
    written: Literal["NFC", "NFD"] = "NFC"

    def read(self, text: str) -> str:
        """The text as the tokenizer sees it. Half a surrogate pair becomes U+FFFD."""
        if text.isascii():
            return text.lower() if self.lowercase else text
        text = unicodedata.normalize(self.form, _SURROGATE.sub("\ufffd", text))
        return unicodedata.normalize(self.form, text.lower()) if self.lowercase else text

    def read_words(self, text: str) -> tuple[str, list[int]]:
        """`read(text)` and, for each of its characters, an index into `text.split()`; -1 for space.

        Normalization may join, split or add characters, spaces too, but never across white space,
        so that reading piece by piece gives the same text.
        """
        pieces: list[str] = []
        words: list[int] = []
        word = -1
        for number, piece in enumerate(_SPACES.split(text)):
            if not piece:
                continue
            is_space = number % 2 == 1
            word += not is_space
            pieces.append(self.read(piece))
            words.extend([-1 if is_space else word] * len(pieces[-1]))
        return "".join(pieces), words

    def write(self, text: str) -> str:
        """A decoded text in the form in which the training data were written."""
        return unicodedata.normalize(self.written, text)


def written_form(texts: Iterable[str]) -> Literal["NFC", "NFD"]:
    """The composed or decomposed form that more of the texts are in; NFC when they are equal."""
    balance = 0
    for text in texts:
        if not text.isascii():
            composed = unicodedata.is_normalized("NFC", text)
            balance += composed - unicodedata.is_normalized("NFD", text)
    return "NFD" if balance < 0 else "NFC"


def word_indices(surfaces: Iterable[str]) -> tuple[int, ...]:
    """For each surface, the word of `"".join(surfaces).split()` that it belongs to, or -1.

    A surface that touches several words belongs to the first of them.
    """
    indices: list[int] = []
    word, inside = -1, False
    for surface in surfaces:
        first = -1
        for character in surface:
            if character.isspace():
                inside = False
                continue
            word += not inside
            inside = True
            first = word if first < 0 else first
        indices.append(first)
    return tuple(indices)
