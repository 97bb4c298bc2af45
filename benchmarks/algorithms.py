"""Algorithms that are learned from short strings and asked of longer ones.

    python benchmarks/algorithms.py
    python benchmarks/algorithms.py --tasks reverse --recipes universal-transformer-act

Copying, turning around and adding up (Dehghani et al. 2019, section 3.4), learned from strings of
up to --longest letters (or digits, of the longer number) and measured at --lengths: by an LSTM with
attention, a Transformer and a Universal Transformer of as many parameters, from the same strings in
as many updates. Both Transformers count positions from a random one in training
(--position-offsets). Each model has a directory under --out: what is there is read, what was
stopped is gone on with; tables and picture hold all that is there.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pictures import lengths
from regard.models.configuration import TransformerLayerConfiguration
from regard.training.recipes import load_recipe
from runs import Rows, Study, tabulate
from string_report import task_tables
from string_studies import Sizes, Strings, string_study
from strings import (
    ADDITION,
    DIGITS,
    by_length,
    copying,
    reversing,
    strings_of_each_length,
)

TASKS = {task.name: task for task in (copying(DIGITS), reversing(DIGITS), ADDITION)}
RECIPES = ("lstm-attention", "transformer-tiny", "universal-transformer")
LENGTHS = (5, 10, 20, 30, 40)
_TOKENS = 500
SETTINGS = (
    "training.schedule=constant",
    "training.learning_rate=0.003",
    "training.warmup=100",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, print; 2 after one line when something is wrong."""
    options = _parser().parse_args(arguments)
    report = options.out / "algorithms"
    return tabulate(_studies(options), options.out, options.minutes, report, _tables, _pictures)


def _tables(rows: Rows) -> str:
    told = {"positions from": "offset", "seed": "seed"}
    return "\n\n".join(task_tables(rows, tuple(TASKS.values()), _lengths(rows), told))


def _pictures(rows: Rows) -> dict[str, str]:
    return {"algorithms.svg": lengths.algorithms(rows, _lengths(rows))}


def _studies(options: argparse.Namespace) -> Iterator[Study]:
    """Every task, seed, offset and recipe, the recipes of a task one after the other."""
    sizes = Sizes(options.parameters, options.updates, options.strings)
    for task in map(TASKS.__getitem__, options.tasks):
        strings = Strings(
            task,
            options.longest,
            learned=strings_of_each_length(task, options.longest, _TOKENS * sizes.updates, seed=1),
            valid=strings_of_each_length(task, options.longest, 500, seed=2),
            tests=by_length(task, options.lengths, sizes.strings, seed=3),
        )
        # An addition of length n has up to 2 n + 1 symbols, and END.
        batching = f"batching={{tokens: {_TOKENS}, maximum_length: {2 * options.longest + 2}}}"
        for seed, recipe in itertools.product(options.seeds, options.recipes):
            for offset in _offsets(recipe, options.position_offsets):
                settings = [*SETTINGS, batching, f"training.seed={seed}", *options.set]
                if offset:
                    settings.append(f"model.position_offset={offset}")
                told = {"offset": offset, "seed": seed}
                yield string_study(recipe, strings, settings, sizes, told)


def _offsets(recipe: str, asked: Sequence[int]) -> Sequence[int]:
    """Those asked for, of a recipe that adds positions to anything; else none."""
    encoder = load_recipe(recipe).model.encoder
    return asked if isinstance(encoder, TransformerLayerConfiguration) else (0,)


def _lengths(rows: Rows) -> list[int]:
    """All that any of the rows was measured at."""
    return sorted({int(length) for row in rows for length in row["figures"]})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Copying, turning around and adding up, learned from short strings."
    )
    add = parser.add_argument
    add("--tasks", nargs="+", choices=tuple(TASKS), default=tuple(TASKS), help="default: all")
    add("--recipes", nargs="+", default=RECIPES, help=f"default {' '.join(RECIPES)}")
    add("--longest", type=int, default=20, help="strings learned from (default 20)")
    add("--lengths", nargs="+", type=int, default=LENGTHS, help="of the strings measured on")
    add("--position-offsets", nargs="+", type=int, default=(40,), help="default 40; 0: none")
    add("--parameters", type=int, default=66_000, help="of each model (default 66,000)")
    add("--updates", type=int, default=3000, help="of each model (default 3000)")
    add("--strings", type=int, default=200, help="measured at each length (default 200)")
    add("--seeds", nargs="+", type=int, default=(1,), help="default 1")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="override of all recipes")
    add("--minutes", type=float, help="most wall time of each training (default: no limit)")
    add("--out", type=Path, default=Path("runs/algorithms"), help="default runs/algorithms")
    return parser


if __name__ == "__main__":
    sys.exit(main())
