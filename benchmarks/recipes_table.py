r"""All recipes on one task: as many parameters, as many minutes, one table.

    python benchmarks/recipes_table.py words --train gre_train.tsv --valid gre_dev.tsv \
        --test gre_test.tsv --minutes 5
    python benchmarks/recipes_table.py sentences --train m30k/train --valid m30k/val \
        --test m30k/test_2016_flickr --source en --target de --minutes 30

Each recipe is made narrower or wider as a whole until it has the number of parameters; what it was
not made for (letters, or subwords) it is given settings for, the same for all. Every model has a
directory under --out; what is there is read, what was stopped is gone on with, and --recipes
chooses some. The table holds all that is there.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from options import add_data, read_data
from regard.data.pairs import Pairs
from regard.data.tokenizers import train_tokenizers
from regard.training.recipes import load_recipe, recipe_names
from runs import Job, Study, metric_cells, metric_head, metric_of, tabulate
from tables import table
from widths import widths_for


@dataclass(frozen=True)
class Task:
    """What all recipes are given.

    kinds: of symbols on both sides; tokenization is for recipes with others.
    adapted: settings of recipes made for other symbols in the source.
    search: of all. metrics: of the test data, the first chooses the model.
    """

    kinds: tuple[str, str]
    tokenization: tuple[str, ...]
    adapted: tuple[str, ...]
    search: str
    metrics: tuple[str, ...]
    parameters: int


TASKS = {
    "words": Task(
        kinds=("character", "space"),
        tokenization=(
            "tokenization={joint: false, source: {kind: character}, target: {kind: space}}",
            "model.embedding.share=false",
        ),
        adapted=(
            "model.initialization=glorot",
            "batching.tokens=700",
            "training.learning_rate=0.003",
            "training.warmup=200",
            "training.validation_interval=300",
        ),
        search="search={beam: 5, length_penalty: 0}",
        metrics=("word_error_rate", "symbol_error_rate"),
        parameters=600_000,
    ),
    "sentences": Task(
        kinds=("subword", "subword"),
        tokenization=(
            "tokenization={joint: true, source: {size: 5000}, target: {size: 5000}}",
            "model.embedding.share=true",
        ),
        adapted=(
            "batching.tokens=2048",
            "training.learning_rate=0.004",
            "training.validation_interval=500",
        ),
        search="search={beam: 5, length_penalty: 1.0}",
        metrics=("bleu", "chrf"),
        parameters=2_000_000,
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, print; 2 after one line when something is wrong."""
    options = _parser().parse_args(arguments)
    place = options.out / options.task
    return tabulate(_studies(options), place, options.minutes, place, rows_table)


def _studies(options: argparse.Namespace) -> Iterator[Study]:
    """A training for every recipe."""
    task = TASKS[options.task]
    learned, valid, test = read_data(options)
    for recipe in options.recipes:
        settings = (*settings_for(recipe, task), *options.set, f"training.seed={options.seed}")
        widths = _widths(recipe, settings, options.parameters or task.parameters, learned)
        yield Study(
            Job(recipe, recipe, (*settings, *widths)),
            learned,
            valid,
            {"test": test},
            task.metrics,
            {"task": options.task},
            resamples=1000 if options.task == "words" else 0,
        )


def settings_for(recipe: str, task: Task) -> tuple[str, ...]:
    """What a recipe is given for a task: little when it was made for such symbols.

    The clock ends training; a rate that falls to 0 over a number of updates does so over the time.
    """
    own = load_recipe(recipe)
    settings = [f"training.metric={task.metrics[0]}", task.search]
    settings += ["training.maximum_updates=0", "training.patience=0"]
    if own.training.schedule == "linear":
        settings += ["training.schedule=constant", "training.cooldown=0.9"]
    elif not own.training.cooldown:
        settings += ["training.cooldown=0.3"]
    source, target = own.tokenization.source.kind, own.tokenization.target.kind
    if (source, target) != task.kinds:
        settings += task.tokenization
    if source != task.kinds[0]:
        settings += task.adapted
    if own.training.schedule == "noam":  # there the rate is a factor of what the width says
        settings += [f"training.learning_rate={own.training.learning_rate}"]
    return tuple(settings)


def _widths(
    recipe: str, settings: Sequence[str], parameters: int, learned: Pairs
) -> tuple[str, ...]:
    configuration = load_recipe(recipe, settings)
    tokenizers = train_tokenizers(configuration.tokenization, learned, configuration.training.seed)
    return widths_for(recipe, settings, parameters, tokenizers.source.size, tokenizers.target.size)


def rows_table(rows: Sequence[dict[str, Any]]) -> str:
    """A row for each recipe, the best first."""
    metrics = TASKS[rows[0]["task"]].metrics if rows else ()

    def key(row: dict[str, Any]) -> float:
        first = metric_of(row, metrics[0])
        return float(first["value"]) * (1 if first["better"] == "lower" else -1)

    lines = []
    for row in sorted(rows, key=key):
        cells = [row["recipe"], f"{row['parameters']:,}", *metric_cells(row, metrics)]
        speed = row["target_tokens"] / max(row["seconds"], 1e-9)
        lines.append([*cells, f"{row['updates']:,}", f"{speed:,.0f}"])
    head = ["recipe", "parameters", *metric_head(rows, metrics)]
    return table([*head, "updates", "target tokens/s"], lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="All recipes on one task, in one table.")
    add = parser.add_argument
    add("task", choices=sorted(TASKS), help="letters to phones and the like, or translation")
    add_data(parser)
    texts = recipe_names(pictures=False)
    add("--recipes", nargs="+", default=texts, help="default: all that read texts")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="override of all recipes")
    add("--parameters", type=int, help="of each model (default: 600,000 words, 2,000,000)")
    add("--minutes", type=float, default=5.0, help="of each training (default 5)")
    add("--seed", type=int, default=1, help="default 1")
    add("--out", type=Path, default=Path("runs/recipes"), help="default runs/recipes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
