"""Pairs: what a model is trained and measured on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

from regard.data.alignment import Alignment
from regard.data.features import FeaturesError, parse_features
from regard.data.readers.aligned import read_aligned
from regard.data.readers.jsonl import read_jsonl
from regard.data.readers.tsv import read_tsv
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.data.pictures import Picture


@dataclass(frozen=True)
class Pair:
    """A source text, or the name of an image, and a target text.

    features: a tag that says what is asked of the source, such as `V;PST`; empty without any.
    picture: what a model reads where the source names an image; None where it is a text.
    alignment: which of the words between white space belong together; None where nobody says so.
    """

    source: str
    target: str
    features: str = ""
    picture: "Picture | None" = None
    alignment: Alignment | None = None


@dataclass(frozen=True)
class Pairs(Sequence[Pair]):
    """Pairs in the order of their file.

    origin: where they come from, for messages.
    blank: how many pairs were dropped because a side was empty or only white space.
    lines: the line of each pair in its file, from 1; empty where there is no file.
    """

    pairs: tuple[Pair, ...]
    origin: str
    blank: int = 0
    lines: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Pair, ...]: ...
    def __getitem__(self, index: int | slice) -> Pair | tuple[Pair, ...]:
        return self.pairs[index]

    def sources(self) -> list[str]:
        """The source of every pair."""
        return [pair.source for pair in self.pairs]

    def targets(self) -> list[str]:
        """The target of every pair."""
        return [pair.target for pair in self.pairs]

    def identities(self) -> list[tuple[str, str]]:
        """What makes two sources the same one: the text and the features of every pair."""
        return [(pair.source, pair.features) for pair in self.pairs]

    def place(self, index: int) -> str:
        """Where a pair stands, for messages: `line 7`; `pair 7` without a file."""
        return f"line {self.lines[index]}" if self.lines else f"pair {index + 1}"

    @property
    def have_features(self) -> bool:
        """Whether the pairs have features: all of them or, as they are read, none."""
        return any(pair.features for pair in self.pairs)

    @property
    def have_pictures(self) -> bool:
        """Whether sources are pictures: all of them or, as they are read, none."""
        return any(pair.picture is not None for pair in self.pairs)

    @property
    def have_alignments(self) -> bool:
        """Whether any pair says which of its words belong together."""
        return any(pair.alignment is not None for pair in self.pairs)

    @property
    def links(self) -> int:
        """How many links their words have, all pairs together."""
        return sum(len(pair.alignment.links) for pair in self.pairs if pair.alignment is not None)

    def aligned(self, alignments: Sequence[Alignment]) -> "Pairs":
        """The same pairs, with what is said of the words of each."""
        both = zip(self.pairs, alignments, strict=True)
        return replace(self, pairs=tuple(replace(one, alignment=links) for one, links in both))

    def features(self) -> list[str] | None:
        """The features of every pair; None where there are none."""
        return [pair.features for pair in self.pairs] if self.have_features else None

    def questions(self) -> "Pairs":
        """The first pair of each distinct source with its features, in their order.

        What a model is asked: it answers these, and each has the targets of `references`.
        """
        first: dict[tuple[str, str], int] = {}
        for index, pair in enumerate(self.pairs):
            first.setdefault((pair.source, pair.features), index)
        return Pairs(
            tuple(self.pairs[index] for index in first.values()),
            self.origin,
            lines=tuple(self.lines[index] for index in first.values()) if self.lines else (),
        )

    def references(self) -> tuple[list[str], list[list[str]]]:
        """The sources of `questions`, and the distinct accepted targets of each.

        A source that is asked for with several features comes once for each of them.
        """
        accepted: dict[tuple[str, str], dict[str, None]] = {}
        for pair in self.pairs:
            accepted.setdefault((pair.source, pair.features), {})[pair.target] = None
        sources = [source for source, _ in accepted]
        return sources, [list(targets) for targets in accepted.values()]


def read_pairs(
    data: str | Path,
    source: str | None = None,
    target: str | None = None,
    features: str | None = None,
) -> Pairs:
    """Read pairs from a file or from line-aligned files, strictly.

    data: `FILE.tsv`, `FILE.jsonl`, or the prefix of `PREFIX.source` and `PREFIX.target`; each of
        these may be gzip, its name then ending in `.gz`.
    source, target: the suffixes of a prefix; the columns of a TSV, from 1 (default 1 and 2); the
        keys of JSONL (default `source` and `target`).
    features: where the features stand, in the same way; None = there are none.

    A pair with a blank side (empty or only white space) is dropped as a whole and counted.
    Raises UserError with file and line for everything that cannot be read as pairs, for features
    that are missing or cannot be taken apart, and when no pair is left.
    """
    name = str(data)
    lowered = name.lower().removesuffix(".gz")
    if lowered.endswith(".tsv"):
        texts, origin = read_tsv(Path(name), source, target, features), name
    elif lowered.endswith(".jsonl"):
        texts, origin = read_jsonl(Path(name), source, target, features), name
    else:
        texts = read_aligned(name, source, target, features)
        suffixes = [str(suffix) for suffix in (source, target, features) if suffix]
        origin = f"{name}.{{{','.join(suffixes)}}}"
    if features is not None:
        _check_features(texts, origin)
    filled = [i for i, pair in enumerate(texts) if pair[0].strip() and pair[1].strip()]
    pairs = tuple(Pair(*texts[i]) for i in filled)
    blank = len(texts) - len(pairs)
    if not texts:
        raise UserError(f"{origin} is empty; it should hold at least one pair of texts")
    if not pairs:
        raise UserError(
            f"{origin}: each of the {blank} pairs has a blank side; give both a source and a target"
        )
    return Pairs(pairs, origin, blank, tuple(i + 1 for i in filled))


def _check_features(texts: Sequence[tuple[str, str, str]], origin: str) -> None:
    """Raises UserError, naming the row, for features that are missing or cannot be taken apart."""
    for number, (source, target, features) in enumerate(texts, start=1):
        if source.strip() and target.strip():
            try:
                parse_features(features)
            except FeaturesError as error:
                raise UserError(f"{origin}, line {number}: {error}") from error
