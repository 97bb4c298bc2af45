"""Products of probabilities against sums of logarithms, in float32.

    python benchmarks/log_probabilities.py

Three tables: where a product of equal probabilities becomes 0; what becomes of the products and of
the sums, and of their gradients, over the length of a sequence; and the logarithm of a softmax
against log-softmax where logits lie far apart. What was found is in
docs/mechanisms/log-probabilities.md.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import machine
from options import numbers
from sequence_precision import (
    Fall,
    Precision,
    Tail,
    draw_probabilities,
    measure_fall,
    measure_precision,
    measure_tail,
)
from tables import table

STEPS = (1, 10, 20, 30, 40, 50, 60, 70, 80, 100, 200, 500, 1000)
PERPLEXITIES = (1.1, 2.0, 5.0, 20.0, 100.0, 8000.0)
MARGINS = (1.0, 10.0, 50.0, 80.0, 90.0, 100.0, 104.0, 120.0, 1000.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = _parser().parse_args(arguments)
    falls = [measure_fall(1 / perplexity) for perplexity in PERPLEXITIES]
    precisions = [
        measure_precision(draw_probabilities(options.sequences, steps, options.perplexity, 1))
        for steps in options.steps
    ]
    tails = [measure_tail(margin) for margin in MARGINS]
    parts = [fall_table(falls), precision_table(precisions), tail_table(tails)]
    here = machine.describe()
    parts.append(f"{here.processor}, Python {here.python}, torch {here.torch}, float32")
    print("\n\n".join(parts))
    if options.json:
        whole = {
            "settings": {key: value for key, value in vars(options).items() if key != "json"},
            "machine": asdict(here),
            "falls": [asdict(fall) for fall in falls],
            "precisions": [asdict(precision) for precision in precisions],
            "tails": [asdict(tail) for tail in tails],
        }
        options.json.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return 0


def fall_table(falls: Sequence[Fall]) -> str:
    """After how many steps of equal probability the product is lost."""
    rows = [
        [
            f"1 / {1 / fall.probability:g}",
            f"{fall.subnormal:,}",
            "never" if fall.zero is None else f"{fall.zero:,}",
        ]
        for fall in falls
    ]
    return table(["probability of every step", "digits are lost from step", "0 from step"], rows)


def precision_table(precisions: Sequence[Precision]) -> str:
    """A row a length."""
    head = ["steps", "mean ln p", "product is 0", "subnormal", "error of ln p: product", "sum"]
    head += ["gradient right: product", "sum"]
    rows = [
        [
            f"{each.steps:,}",
            f"{each.logarithm:,.1f}",
            f"{each.zero:.1%}",
            f"{each.subnormal:.1%}",
            "-" if each.product_error is None else f"{each.product_error:.1e}",
            f"{each.sum_error:.1e}",
            f"{each.product_gradient:.1%}",
            f"{each.sum_gradient:.1%}",
        ]
        for each in precisions
    ]
    return table(head, rows)


def tail_table(tails: Sequence[Tail]) -> str:
    """A row a distance between two logits."""
    head = ["margin", "ln p (float64)", "log(softmax)", "gradient", "log-softmax", "gradient"]
    rows = [
        [
            f"{each.margin:g}",
            f"{each.true:.6g}",
            f"{each.log_of_softmax:.6g}",
            f"{each.log_of_softmax_gradient:.4g}",
            f"{each.log_softmax:.6g}",
            f"{each.log_softmax_gradient:.4g}",
        ]
        for each in tails
    ]
    return table(head, rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Products of probabilities against sums of logarithms, in float32."
    )
    add = parser.add_argument
    add("--steps", type=numbers, default=STEPS, help="lengths of sequences")
    add("--sequences", type=int, default=1000, help="drawn at each length (default 1000)")
    add("--perplexity", type=float, default=5.0, help="of the model they come from (default 5)")
    add("--json", type=Path, help="write everything measured to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
