"""Gold alignments of pairs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.reading import counted
from regard.cli.streams import report
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.data.alignment import Alignment
    from regard.data.pairs import Pairs
    from regard.evaluation.aligning import Unit

#: The share of links outside their sentences from which a file is taken to be another one's.
OTHER_FILE = 0.05


def linked(tokens: bool, gold: Path | None) -> "Unit":
    """What the links of a file of gold ones are of; UserError for tokens without such a file."""
    if tokens and gold is None:
        raise UserError("--tokens is about true links: give --alignments GOLD as well")
    return "token" if tokens else "word"


def read_gold(
    path: Path, pairs: "Pairs", lengths: Sequence[tuple[int, int]], unit: "Unit"
) -> "list[Alignment]":
    """The gold links of each pair, out of a file for all lines of its data, blank ones too.

    lengths: how many units each source and target have, as `Aligner.lengths` counts them. Links
    that point past the end of a side are left out and counted. Raises UserError when these are
    many, and as `read_alignments`.
    """
    from regard.evaluation import read_alignments

    every = read_alignments(path, len(pairs) + pairs.blank)
    gold = [every[line - 1] for line in pairs.lines]
    kept = [
        alignment.within(source, target)
        for alignment, (source, target) in zip(gold, lengths, strict=True)
    ]
    both = zip(gold, kept, strict=True)
    outside = [len(given.links - inside.links) for given, inside in both]
    if any(outside):
        index = next(index for index, count in enumerate(outside) if count)
        links = sum(len(given.links) for given in gold)
        place = f"{path}, {pairs.place(index)}"
        end = "their sentence" if unit == "word" else "the model's tokens"
        what = f"{sum(outside):,} of {counted(links, 'link')} point past the end of {end}"
        if sum(outside) > OTHER_FILE * links:
            raise UserError(
                f"{place}: {what}, the first ones here; {unit}s count from 0, source first"
            )
        report(f"{place}: {what} and are left out, the first ones here")
    return kept
