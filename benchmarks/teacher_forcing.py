r"""How much of what a decoder reads in training should be gold: a table over the share.

    python benchmarks/teacher_forcing.py --train ice_train.tsv --valid ice_dev.tsv \
        --test ice_test.tsv

One recipe, one task, all else equal: always the gold token, fixed shares of it (7:3 and 3:7 among
them), and shares that fall while training goes on (Bengio et al. 2015). Every model has a directory
under --out; what is there is read, what was stopped is gone on with. What was found is in
docs/mechanisms/teacher-forcing.md.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from options import add_data, read_data
from runs import Job, Study, metric_cells, metric_head, tabulate
from tables import table

#: Where shares that fall end: that of the last update.
LAST = 0.3
FIXED = (1.0, 0.9, 0.7, 0.5, 0.3, 0.0)
METRICS = ("word_error_rate", "symbol_error_rate")


def ways(updates: int) -> dict[str, str]:
    """Names, and `training.teacher_forcing` of each; what falls is at `LAST` in the end."""
    fixed = {f"{share:g}": f"{{kind: constant, share: {share:g}}}" for share in FIXED}
    slope, base, sigmoid = (1 - LAST) / updates, LAST ** (1 / updates), _sigmoid(updates)
    return {
        **fixed,
        "linear": f"{{kind: linear, share: 1.0, minimum: {LAST}, slope: {slope:.9f}}}",
        "exponential": f"{{kind: exponential, base: {base:.12f}}}",
        "inverse sigmoid": f"{{kind: inverse_sigmoid, sigmoid: {sigmoid:.6f}}}",
    }


def _sigmoid(updates: int) -> float:
    """The m at which ``m / (m + exp(updates / m))`` is `LAST`, by bisection."""
    low, high = 1.0, float(max(updates, 2))
    for _ in range(100):
        m = (low + high) / 2
        share = m / (m + math.exp(min(updates / m, 700.0)))
        low, high = (m, high) if share < LAST else (low, m)
    return high


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, print; 2 after one line when something is wrong."""
    options = _parser().parse_args(arguments)
    report = options.out / "teacher-forcing"
    return tabulate(_studies(options), options.out, options.minutes, report, rows_table)


def _studies(options: argparse.Namespace) -> Iterator[Study]:
    """A training for every way and seed."""
    learned, valid, test = read_data(options)
    for seed in options.seeds:
        for name, teaching in ways(options.updates).items():
            settings = (
                *options.set,
                f"training.maximum_updates={options.updates}",
                f"training.validation_interval={max(1, options.updates // 6)}",
                "training.patience=0",
                "training.metric=word_error_rate",
                f"training.seed={seed}",
                f"training.teacher_forcing={teaching}",
            )
            yield Study(
                Job(f"{seed}/{name.replace(' ', '-')}", options.recipe, settings),
                learned,
                valid,
                {"test": test},
                METRICS,
                {"share": name, "seed": seed},
                resamples=1000,
            )


def rows_table(rows: Sequence[dict[str, Any]]) -> str:
    """A row for each training, in the order of `ways`."""
    order = list(ways(2))
    lines = []
    for row in sorted(rows, key=lambda row: (row["seed"], order.index(row["share"]))):
        took = [f"{row['updates']:,}", f"{row['seconds']:,.0f}"]
        lines.append([row["share"], str(row["seed"]), *metric_cells(row, METRICS), *took])
    head = ["gold tokens", "seed", *metric_head(rows, METRICS)]
    return table([*head, "updates", "training, s"], lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A table over the share of teacher forcing.")
    add = parser.add_argument
    add_data(parser)
    add("--recipe", default="lstm-attention", help="default lstm-attention")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="override of the recipe")
    add("--seeds", nargs="+", type=int, default=[1], help="default 1")
    add("--updates", type=int, default=2000, help="of each training (default 2000)")
    add("--minutes", type=float, help="most wall time of each training (default: no limit)")
    add("--out", type=Path, default=Path("runs/teacher-forcing"), help="default runs/...")
    return parser


if __name__ == "__main__":
    sys.exit(main())
