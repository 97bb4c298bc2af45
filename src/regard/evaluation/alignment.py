"""Word alignments: reading and writing them, guessing them, grading them."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from regard.data.alignment import Alignment
from regard.data.lines import read_lines
from regard.errors import UserError
from regard.files import write_text

Links = frozenset[tuple[int, int]]
"""Pairs of 0-based word indices, source first."""

_LINK = re.compile(r"([0-9]+)([-p])([0-9]+)")


def parse_links(line: str) -> Alignment:
    """One line in Pharaoh format: `i-j` is a sure link, `ipj` a possible one. UserError if not."""
    sure: set[tuple[int, int]] = set()
    possible: set[tuple[int, int]] = set()
    for item in line.split():
        match = _LINK.fullmatch(item)
        if match is None:
            raise UserError(f"{item!r} is not a link: write i-j (sure) or ipj (possible), 0-based")
        link = (int(match[1]), int(match[3]))
        (sure if match[2] == "-" else possible).add(link)
    return Alignment(frozenset(sure), frozenset(possible - sure))


def format_links(links: Iterable[tuple[int, int]]) -> str:
    """Links as one line in Pharaoh format, sorted by source and then target: `0-0 1-2`."""
    return " ".join(f"{source}-{target}" for source, target in sorted(set(links)))


def read_alignments(path: Path) -> list[Alignment]:
    """A file in Pharaoh format, one line a sentence pair. UserError names the file and the line."""
    alignments = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            alignments.append(parse_links(line))
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error}") from error
    return alignments


def write_alignments(path: Path, alignments: Iterable[Iterable[tuple[int, int]]]) -> None:
    """Write one line of `i-j` links a sentence pair, an empty line where there are none."""
    write_text(path, "".join(format_links(links) + "\n" for links in alignments))


def alignment_error_rate(
    predicted: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links]
) -> float:
    """AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|) over a corpus, from 0 (best) to 1 (Och and Ney 2003).

    predicted, sure, possible: the links of each sentence pair; sure links count as possible
    whether or not `possible` repeats them. Counts are summed over the pairs before dividing. With
    no link predicted and none sure there is no error: 0. UserError when the counts differ.
    """
    if not len(predicted) == len(sure) == len(possible):
        raise UserError(
            f"{len(predicted)} predicted, {len(sure)} sure and {len(possible)} possible "
            "alignments: give one of each for every sentence pair"
        )
    agreeing = total = 0
    for guess, certain, allowed in zip(predicted, sure, possible, strict=True):
        agreeing += len(guess & certain) + len(guess & (allowed | certain))
        total += len(guess) + len(certain)
    return 1 - agreeing / total if total else 0.0


def diagonal(source_length: int, target_length: int) -> Links:
    """The guess to beat: each target word linked to the source word nearest to the diagonal.

    Words are intervals of equal width over the sentence; the middle of target word j falls into
    source word floor((j + 1/2) * source_length / target_length).
    """
    if source_length == 0:
        return frozenset()
    return frozenset(
        ((2 * target + 1) * source_length // (2 * target_length), target)
        for target in range(target_length)
    )


def links_from_attention(
    attention: Any, source_words: Sequence[int], target_words: Sequence[int]
) -> Links:
    """Read word links off attention weights.

    Weights are added up over the tokens of each target word. The word is linked to the source word
    that gets the largest sum over its own tokens. A source token that belongs to no word (the end
    symbol, a space) competes by itself, and where it wins the target word has no link. Of equal
    sums, the one that starts first wins.

    attention: `[target tokens, source tokens]`, nested sequences, an array or a tensor.
    source_words, target_words: the word that each token belongs to, -1 for none. To link tokens
        and not words, give each token an index of its own.
    Raises ValueError when the shape is not that of the words.
    """
    mass: dict[int, list[float]] = {}
    if len(attention) != len(target_words):
        raise ValueError(f"{len(attention)} rows of attention for {len(target_words)} tokens")
    for row, word in zip(attention, target_words, strict=True):
        weights = [float(weight) for weight in row]
        if len(weights) != len(source_words):
            raise ValueError(f"{len(weights)} weights in a row for {len(source_words)} tokens")
        if word >= 0:
            sums = mass.get(word)
            mass[word] = (
                weights if sums is None else list(map(sum, zip(sums, weights, strict=True)))
            )
    links = set()
    for word, weights in mass.items():
        winner = _heaviest_word(weights, source_words)
        if winner >= 0:
            links.add((winner, word))
    return frozenset(links)


def _heaviest_word(weights: Sequence[float], words: Sequence[int]) -> int:
    """The word with the largest sum of weights, -1 when a token outside all words has more."""
    sums: dict[tuple[int, int], float] = {}
    for index, (weight, word) in enumerate(zip(weights, words, strict=True)):
        key = (word, 0) if word >= 0 else (-1, index)
        sums[key] = sums.get(key, 0.0) + weight
    if not sums:
        return -1
    return max(sums, key=lambda key: sums[key])[0]  # max keeps the first of equals
