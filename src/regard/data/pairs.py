"""Pairs: what a model is trained and measured on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from regard.data.readers.aligned import read_aligned
from regard.data.readers.jsonl import read_jsonl
from regard.data.readers.tsv import read_tsv
from regard.errors import UserError


@dataclass(frozen=True)
class Pair:
    """A source text and a target text."""

    source: str
    target: str


@dataclass(frozen=True)
class Pairs(Sequence[Pair]):
    """Pairs in the order of their file.

    origin: where they come from, for messages.
    blank: how many pairs were dropped because a side was empty or only white space.
    """

    pairs: tuple[Pair, ...]
    origin: str
    blank: int = 0

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

    def references(self) -> tuple[list[str], list[list[str]]]:
        """Distinct sources in first-seen order, and the distinct accepted targets of each."""
        accepted: dict[str, dict[str, None]] = {}
        for pair in self.pairs:
            accepted.setdefault(pair.source, {})[pair.target] = None
        return list(accepted), [list(targets) for targets in accepted.values()]


def read_pairs(data: str | Path, source: str | None = None, target: str | None = None) -> Pairs:
    """Read pairs from a file or from two line-aligned files, strictly.

    data: `FILE.tsv`, `FILE.jsonl`, or the prefix of `PREFIX.source` and `PREFIX.target`; each of
        these may be gzip, its name then ending in `.gz`.
    source, target: the suffixes of a prefix; the columns of a TSV, from 1 (default 1 and 2); the
        keys of JSONL (default `source` and `target`).

    A pair with a blank side (empty or only white space) is dropped as a whole and counted.
    Raises UserError with file and line for everything that cannot be read as pairs, and when no
    pair is left.
    """
    name = str(data)
    lowered = name.lower().removesuffix(".gz")
    if lowered.endswith(".tsv"):
        texts, origin = read_tsv(Path(name), source, target), name
    elif lowered.endswith(".jsonl"):
        texts, origin = read_jsonl(Path(name), source, target), name
    else:
        texts, origin = read_aligned(name, source, target), f"{name}.{{{source},{target}}}"
    pairs = tuple(Pair(*pair) for pair in texts if pair[0].strip() and pair[1].strip())
    blank = len(texts) - len(pairs)
    if not texts:
        raise UserError(f"{origin} is empty; it should hold at least one pair of texts")
    if not pairs:
        raise UserError(
            f"{origin}: each of the {blank} pairs has a blank side; give both a source and a target"
        )
    return Pairs(pairs, origin, blank)
