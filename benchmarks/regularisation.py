r"""What each way of regularising gives where data are few: one task, one recipe, a table.

    python benchmarks/regularisation.py --train m30k/train --valid m30k/val \
        --test m30k/test_2016_flickr --source en --target de --updates 3000

The recipe as it is, and with one option changed: more dropout, sampled subwords, word dropout,
R-Drop, other averages of weights; and most of them together. All else is equal, updates or minutes
too. --pairs takes fewer of the training pairs. Every model has a directory under --out; what is
there is read, what was stopped is gone on with, and --ways chooses some. The options are told in
docs/regularisation.md.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from options import add_data, read_data
from recipes_table import TASKS
from regard.data.pairs import Pairs
from regard.errors import UserError
from regard.training.recipes import load_recipe
from regard.training.validation import spread_evenly
from runs import Job, Study, metric_cells, metric_head, metric_of, tabulate
from tables import table

Settings = tuple[str, ...]

PLAIN = "as it is"


def on_both_sides(key: str, value: object) -> Settings:
    """A setting of the source's tokenizer and of the target's."""
    return tuple(f"tokenization.{side}.{key}={value}" for side in ("source", "target"))


def word_dropout(source: float, target: float) -> Settings:
    """Of either side."""
    return (f"model.embedding.word_dropout={{source: {source}, target: {target}}}",)


SAMPLED = on_both_sides("sampling", 0.1)
BPE = on_both_sides("algorithm", "bpe")
EXPONENTIAL = ("training.average={kind: exponential}",)

#: Names and settings; those of subwords are for recipes that have some.
WAYS: dict[str, Settings] = {
    PLAIN: (),
    "dropout 0.3": tuple(
        f"model.{part}.dropout=0.3" for part in ("embedding", "encoder", "decoder")
    ),
    "unigram sampling": (*on_both_sides("algorithm", "unigram"), *SAMPLED),
    "bpe": BPE,
    "bpe-dropout": (*BPE, *SAMPLED),
    "word dropout, source": word_dropout(0.1, 0.0),
    "word dropout, target": word_dropout(0.0, 0.1),
    "word dropout, both": word_dropout(0.1, 0.1),
    "r-drop 1": ("training.r_drop=1",),
    "r-drop 5": ("training.r_drop=5",),
    "average none": ("training.average={kind: none}",),
    "average last": ("training.average={kind: last, count: 5}",),
    "average exponential": EXPONENTIAL,
    "together": (*BPE, *SAMPLED, *word_dropout(0.1, 0.1), "training.r_drop=5", *EXPONENTIAL),
}


def ways(recipe: str, settings: Sequence[str] = ()) -> list[str]:
    """Those that a recipe can be given; the others are named on standard error, and why."""
    tokenization = load_recipe(recipe, settings).tokenization
    subwords = {tokenization.source.kind, tokenization.target.kind} == {"subword"}
    possible = []
    for name, changes in WAYS.items():
        try:
            if not subwords and {*BPE} <= {*changes}:
                raise UserError("there are no subwords on both sides")
            load_recipe(recipe, [*settings, *changes])
            possible.append(name)
        except UserError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return possible


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, print; 2 after one line when something is wrong."""
    options = _parser().parse_args(arguments)
    report = options.out / "regularisation"
    return tabulate(_studies(options), options.out, options.minutes, report, rows_table)


def _studies(options: argparse.Namespace) -> Iterator[Study]:
    """A training for every way and seed."""
    learned, valid, test = read_data(options)
    learned = fewer(learned, options.pairs)
    possible = ways(options.recipe, options.set)
    kind = load_recipe(options.recipe, options.set).tokenization.target.kind
    metrics = TASKS["sentences" if kind == "subword" else "words"].metrics
    for seed in options.seeds:
        for name in [name for name in possible if name in (options.ways or possible)]:
            settings = (
                f"training.maximum_updates={options.updates}",
                f"training.validation_interval={max(1, (options.updates or 3000) // 6)}",
                "training.patience=0",
                f"training.metric={metrics[0]}",
                f"training.seed={seed}",
                *options.set,
                *WAYS[name],
            )
            place = f"{seed}/{name.replace(',', '').replace(' ', '-')}"
            yield Study(
                Job(place, options.recipe, settings),
                learned,
                valid,
                {"test": test},
                metrics,
                {"way": name, "seed": seed, "pairs": len(learned), "metrics": metrics},
                resamples=1000,
            )


def fewer(pairs: Pairs, count: int) -> Pairs:
    """So many of the pairs, spread evenly; 0 = all."""
    kept = tuple(pairs[index] for index in spread_evenly(len(pairs), count))
    return Pairs(kept, pairs.origin, pairs.blank)


def rows_table(rows: Sequence[dict[str, Any]]) -> str:
    """A row for each training, in the order of `WAYS`; what it gains over the recipe as it is."""
    order = list(WAYS)
    metrics = rows[0]["metrics"] if rows else ()
    plain = {row["seed"]: _first(row) for row in rows if row["way"] == PLAIN}
    lines = []
    for row in sorted(rows, key=lambda row: (row["seed"], order.index(row["way"]))):
        known = plain.get(row["seed"])
        gain = "-" if known is None else f"{_first(row) - known:+.2f}"
        cells = [row["way"], str(row["seed"]), *metric_cells(row, metrics), gain]
        cells += [f"{row['updates']:,}", f"{row['target_tokens']:,}", f"{row['seconds']:,.0f}"]
        lines.append(cells)
    head = ["regularisation", "seed", *metric_head(rows, metrics), "difference"]
    return table([*head, "updates", "target tokens", "training, s"], lines)


def _first(row: dict[str, Any]) -> float:
    return float(metric_of(row, row["metrics"][0])["value"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A table over ways of regularising.")
    add = parser.add_argument
    add_data(parser)
    add("--recipe", default="transformer-tiny", help="default transformer-tiny")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="override of the recipe")
    add("--ways", nargs="+", choices=list(WAYS), help="default: all that the recipe can be given")
    add("--pairs", type=int, default=0, help="training pairs, spread evenly (default 0: all)")
    add("--seeds", nargs="+", type=int, default=[1], help="default 1")
    add("--updates", type=int, default=3000, help="of each training (default 3000; 0: no limit)")
    add("--minutes", type=float, help="most wall time of each training (default: no limit)")
    add("--out", type=Path, default=Path("runs/regularisation"), help="default runs/...")
    return parser


if __name__ == "__main__":
    sys.exit(main())
