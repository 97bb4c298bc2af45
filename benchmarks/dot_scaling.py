"""Why dot products are scaled, and what separate keys and values do for them.

    python benchmarks/dot_scaling.py

Two tables. First, unit normal queries and keys of sizes 16 to 1,024: the spread of the scores, the
entropy of the weights and the gradient that reaches the scores, of dot and scaled dot product.
Second, self-attention of one layer with and without projections, on one task (word_forms.py), after
equally many updates. What was found is in docs/mechanisms/scaling.md.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

import machine
from form_tagger import Outcome, Way, run
from options import numbers
from score_spread import Spread, even_gradient, measure_spread
from tables import table
from word_forms import make_task

SIZES = (16, 32, 64, 128, 256, 512, 1024)
WAYS = tuple(
    Way(score, project)
    for score in ("dot", "scaled_dot")
    for project in ((), ("value",), ("key",), ("key", "value"), ("query", "key", "value"))
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = _parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    spreads = [
        measure_spread(size, scaled, options.queries, options.positions, seed=1)
        for size in options.sizes
        for scaled in (False, True)
    ]
    even = even_gradient(options.positions, options.queries, seed=1)
    print(spread_table(spreads, options.positions, even), flush=True)
    task = make_task(options.sentences, options.sentences // 4, seed=1)
    outcomes = run(task, WAYS, options.size, options.updates, options.seeds)
    print(outcome_table(outcomes), flush=True)
    here = machine.describe()
    print(f"\n{here.processor}, Python {here.python}, torch {here.torch}, float32")
    if options.json:
        whole = {
            "settings": {key: value for key, value in vars(options).items() if key != "json"},
            "machine": asdict(here),
            "even_gradient": even,
            "spreads": [asdict(spread) for spread in spreads],
            "outcomes": [
                {**asdict(way), "runs": [asdict(outcome) for outcome in runs]}
                for way, runs in outcomes.items()
            ],
        }
        options.json.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return 0


def spread_table(spreads: Sequence[Spread], positions: int, even: float) -> str:
    """Dot and scaled dot product side by side, a row a size."""
    head = ["size"]
    for name in ("dot", "scaled"):
        head += [f"{name}: deviation", "entropy", "largest weight", "gradient"]
    rows = []
    for size in sorted({spread.size for spread in spreads}):
        row = [str(size)]
        for spread in sorted((s for s in spreads if s.size == size), key=lambda s: s.scaled):
            row += [f"{spread.deviation:.2f}", f"{spread.entropy:.3f}"]
            row += [f"{spread.largest:.3f}", f"{spread.gradient:.4f}"]
        rows.append(row)
    total = torch.tensor(float(positions)).log().item()
    return (
        f"{table(head, rows)}\n\n{positions} positions; where all scores are equal, the entropy is "
        f"{total:.3f} and the gradient {even:.4f}\n"
    )


def outcome_table(outcomes: dict[Way, list[Outcome]]) -> str:
    """A row a way: means over the seeds, and the range of the accuracy."""
    head = ["score", "projected", "parameters", "accuracy", "range", "perplexity", "on itself"]
    rows = []
    for way, runs in outcomes.items():
        accuracies = [outcome.accuracy for outcome in runs]
        rows.append(
            [
                way.score,
                ", ".join(way.project) or "nothing",
                f"{runs[0].parameters:,}",
                f"{statistics.mean(accuracies):.1%}",
                f"{min(accuracies):.1%} to {max(accuracies):.1%}",
                f"{statistics.mean(outcome.perplexity for outcome in runs):.3f}",
                f"{statistics.mean(outcome.on_itself for outcome in runs):.2f}",
            ]
        )
    return table(head, rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Dot against scaled dot product over sizes, and with and without projections."
    )
    add = parser.add_argument
    add("--sizes", type=numbers, default=SIZES, help="of queries and keys (default 16 to 1024)")
    add("--queries", type=int, default=4096, help="drawn at each size (default 4096)")
    add("--positions", type=int, default=32, help="keys of each query (default 32)")
    add("--sentences", type=int, default=2000, help="to train on (default 2000)")
    add("--size", type=int, default=32, help="of the tagger (default 32)")
    add("--updates", type=int, default=400, help="of every training (default 400)")
    add("--seeds", type=numbers, default=(1, 2, 3), help="default 1,2,3")
    add("--threads", type=int, default=1, help="default 1")
    add("--json", type=Path, help="write everything measured to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
