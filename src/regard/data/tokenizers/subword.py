"""Subwords, by sentencepiece: frequent words whole, rare ones in pieces."""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer, set_random_generator_seed

from regard.data.special import END, PAD, SPECIAL_TOKENS, START, UNKNOWN
from regard.data.tokenizers.normalization import Normalizer, word_indices
from regard.data.tokenizers.protocol import Tokenized, token_ids
from regard.data.tokenizers.reserved import NEVER_LEARNED, SPECIAL_PIECES, WORD_MARK, hide, restore
from regard.data.tokenizers.sampling import next_seed
from regard.errors import UserError
from regard.files import require_file, write_bytes, write_text

_QUIET = 2  # sentencepiece's log level for errors alone
_LONGEST_LINE = 2**30  # bytes; longer lines would be left out of training


@dataclass(frozen=True)
class SubwordTokenizer:
    """A sentencepiece model over normalized text; runs of spaces count as one.

    `decode(encode(x))` is x, read, when its symbols were seen in training and its spaces are
    single. Sampling follows Kudo (2018), "Subword regularization", over all segmentations, or, for
    bpe, Provilkov et al. (2020), "BPE-dropout".
    """

    model: bytes
    normalizer: Normalizer
    sampling: float = 0.0
    kind: Literal["subword"] = "subword"

    @cached_property
    def processor(self) -> SentencePieceProcessor:
        return SentencePieceProcessor(model_proto=self.model)

    @cached_property
    def surfaces(self) -> tuple[str, ...]:
        """The text of each id: spaces as they are, nothing for a special."""
        pieces = map(self.processor.id_to_piece, range(self.processor.get_piece_size()))
        texts = [restore(piece.replace(WORD_MARK, " ")) for piece in pieces]
        return ("",) * len(SPECIAL_TOKENS) + tuple(texts[len(SPECIAL_TOKENS) :])

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Each id as a person sees it."""
        pieces = (surface.replace(" ", WORD_MARK) for surface in self.surfaces)
        return SPECIAL_TOKENS + tuple(pieces)[len(SPECIAL_TOKENS) :]

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """The id of each shown piece; one that begins a word before one that spells the mark."""
        ids = range(len(SPECIAL_TOKENS), self.size)
        spelled = {number for number in ids if WORD_MARK in self.surfaces[number]}
        ordered = sorted(ids, key=lambda number: number not in spelled)
        return {self.shown[number]: number for number in ordered}

    @property
    def size(self) -> int:
        return len(self.surfaces)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.processor.encode(hide(self.normalizer.read(text)), out_type=int)
        return ids

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        if len(texts) == 1:  # for a list a thread is started, which takes longer than one text
            return [self.encode(texts[0])]
        read = [hide(self.normalizer.read(text)) for text in texts]
        ids: list[list[int]] = self.processor.encode(read, out_type=int, num_threads=1)
        return ids

    def sample(self, text: str) -> list[int]:
        return self.sample_all([text])[0]

    def sample_all(self, texts: Sequence[str]) -> list[list[int]]:
        if not self.sampling:
            return self.encode_all(texts)
        read = [hide(self.normalizer.read(text)) for text in texts]
        # The seed is read when a thread starts, and one starts for two texts or more.
        set_random_generator_seed(next_seed())
        ids: list[list[int]] = self.processor.encode(
            [*read, "", ""],
            out_type=int,
            num_threads=1,
            enable_sampling=True,
            nbest_size=-1,
            alpha=self.sampling,
        )
        return ids[: len(texts)]

    def tokenize(self, text: str) -> Tokenized:
        read, read_words = self._read_words(text)
        shown, shown_words = WORD_MARK + read.replace(" ", WORD_MARK), [-1, *read_words]
        hidden = hide(read)
        tokens, words, start = [], [], 0
        for piece in self.processor.encode(hidden, out_type=str):
            end = start + len(piece)
            tokens.append(shown[start:end])
            word = shown_words[start] if start < end else -1
            if word < 0:
                word = next((each for each in shown_words[start:end] if each >= 0), -1)
            words.append(word)
            start = end
        ids = self.processor.encode(hidden, out_type=int)
        return Tokenized(tuple(ids), tuple(tokens), _with_marks(tokens, words))

    def _read_words(self, text: str) -> tuple[str, list[int]]:
        """The text as it is read, single spaced, and the word of each character; -1 for a space."""
        given = text.split()
        read = [self.normalizer.read(word) for word in given]
        if " ".join(given) != text or not all(read) or any(" " in word for word in read):
            return _single_spaced(*self.normalizer.read_words(text))
        words: list[int] = []  # word by word, where spaces are single already
        for number, word in enumerate(read):
            words += [number] * len(word)
            words.append(-1)
        return " ".join(read), words[:-1]

    def decode(self, ids: Sequence[int]) -> str:
        text = "".join([self.surfaces[number] for number in ids])
        return self.normalizer.write(" ".join(filter(None, text.split(" "))))

    def describe(self, ids: Sequence[int]) -> Tokenized:
        tokens = [self.shown[number] for number in ids]
        words = word_indices(self.surfaces[number] for number in ids)
        return Tokenized(tuple(ids), tuple(tokens), _with_marks(tokens, words))

    def token_ids(self, tokens: Sequence[str]) -> list[int]:
        return token_ids(tokens, self.vocabulary)

    def save(self, directory: Path, name: str) -> None:
        head = {
            "kind": self.kind,
            "normalizer": vars(self.normalizer),
            "sampling": self.sampling,
            "size": self.size,
            "sha256": hashlib.sha256(self.model).hexdigest(),
        }
        write_bytes(directory / f"{name}.model", self.model)
        write_text(directory / f"{name}.json", json.dumps(head, indent=1) + "\n")

    @classmethod
    def parse(cls, data: dict[str, Any], normalizer: Normalizer, path: Path) -> "SubwordTokenizer":
        """The tokenizer in what `save` wrote at `path`. Raises UserError when it is damaged."""
        file = require_file(path.with_suffix(".model"), "a tokenizer's sentencepiece model")
        try:
            model = file.read_bytes()
        except OSError as error:
            raise UserError(f"cannot read {file}: {error.strerror or error}") from error
        sampling = data.get("sampling")
        if not isinstance(sampling, (int, float)) or not 0 <= sampling <= 1:
            raise UserError(f"{path} is damaged: sampling should be a number from 0 to 1")
        if hashlib.sha256(model).hexdigest() != data.get("sha256"):
            raise UserError(f"{file} is damaged: it is not the model that {path.name} describes")
        return cls(model, normalizer, float(sampling))

    @classmethod
    def train(
        cls,
        texts: Sequence[str],
        normalizer: Normalizer,
        *,
        size: int,
        algorithm: Literal["unigram", "bpe"] = "unigram",
        sampling: float = 0.0,
        key: str = "size",
    ) -> "SubwordTokenizer":
        """A vocabulary of `size` entries, specials included, or as many as the texts have pieces.

        Every character of the texts is in it, every line is read, and one thread makes it, so that
        the same texts give the same model. Raises UserError, naming `key`, when `size` is too small
        for the characters alone.
        """
        lines = [hide(normalizer.read(text)).replace(NEVER_LEARNED, " ") for text in texts]
        characters = set().union(*lines) - {" "}
        if not characters:
            raise UserError("the training data hold no character to make subwords of; give texts")
        least = len(characters) + len(SPECIAL_TOKENS) + 1  # and the mark of a space
        if size < least:
            raise UserError(
                f"{key} is {size}, but the characters of the training data alone need {least}; "
                f"set it to {least} or more"
            )
        model = _train_model(lines, size, algorithm)
        return cls(model, normalizer, sampling)


def _train_model(lines: Sequence[str], size: int, algorithm: str) -> bytes:
    model = io.BytesIO()
    pad, unknown, start, end = SPECIAL_PIECES
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type=algorithm,
            vocab_size=size,
            hard_vocab_limit=False,  # small data shrink the vocabulary
            character_coverage=1.0,
            normalization_rule_name="identity",
            max_sentence_length=_LONGEST_LINE,
            num_threads=1,
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=START,
            eos_id=END,
            pad_piece=pad,
            unk_piece=unknown,
            bos_piece=start,
            eos_piece=end,
            minloglevel=_QUIET,
        )
    except RuntimeError as error:
        raise UserError(
            f"no subword vocabulary can be made of the training data: {error}"
        ) from error
    return model.getvalue()


def _with_marks(tokens: Sequence[str], words: Sequence[int]) -> tuple[int, ...]:
    """The words of tokens; a mark that is a token of its own belongs to the word it begins."""
    marked = list(words)
    for index in range(len(tokens) - 2, -1, -1):
        if marked[index] < 0 and tokens[index] == WORD_MARK:
            marked[index] = marked[index + 1]
    return tuple(marked)


def _single_spaced(text: str, words: Sequence[int]) -> tuple[str, list[int]]:
    """The text without spaces at its ends and with one where there are more, and its words."""
    kept = [
        index
        for index, character in enumerate(text)
        if character != " " or (index > 0 and text[index - 1] != " ")
    ]
    if kept and text[kept[-1]] == " ":
        kept.pop()
    return "".join(text[index] for index in kept), [words[index] for index in kept]
