"""What the bottleneck costs: models with and without attention, by the length of the source.

    python benchmarks/bottleneck.py --train m30k/train --valid m30k/val --test m30k/test_2016_flickr
    python benchmarks/bottleneck.py --parts copy reverse

Three parts: strings of letters to copy and to reverse, learned from several ranges of lengths and
measured at lengths up to 1,000; and a translation, measured by the length of the sentence. All
models of a part have about as many parameters and make as many updates. Each has a directory under
--out: what is there is read, what was stopped is gone on with, so that parts, ranges and models may
be run one by one; the tables hold all that is there. What was found is in
docs/mechanisms/bottleneck.md.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bottleneck_report import tables
from bottleneck_studies import MODELS, PARTS, RANGES, TRANSLATION, studies
from pictures import lengths
from regard.errors import UserError
from runs import Rows, Study, tabulate
from string_studies import Sizes


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, print; 2 after one line when something is wrong."""
    options = _parser().parse_args(arguments)
    report = options.out / "bottleneck"
    return tabulate(_studies(options), options.out, options.minutes, report, tables, _pictures)


def _studies(options: argparse.Namespace) -> Iterator[Study]:
    yield from studies(
        options.parts,
        options.models,
        options.ranges,
        Sizes(options.parameters, options.updates, options.strings),
        Sizes(options.translation_parameters, options.translation_updates, 0),
        _data(options),
    )


def _pictures(rows: Rows) -> dict[str, str]:
    """Of strings and of the translation, where there are any."""
    pictures = {}
    if any(row["longest"] for row in rows):
        pictures["bottleneck.svg"] = lengths.strings(rows)
    if not all(row["longest"] for row in rows):
        pictures["bottleneck-translation.svg"] = lengths.translation(rows)
    return pictures


def _data(options: argparse.Namespace) -> tuple[str, ...]:
    """Training, validation and test data of the translation, and its two sides."""
    given = (options.train, options.valid, options.test)
    if TRANSLATION in options.parts and None in given:
        raise UserError(
            f"part {TRANSLATION} needs --train, --valid and --test; leave it out with --parts"
        )
    return (*given, options.source, options.target)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Models with and without attention, by the length of the source."
    )
    add = parser.add_argument
    add("--parts", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    add("--models", nargs="+", default=MODELS, help=f"recipes (default {' '.join(MODELS)})")
    add("--ranges", nargs="+", type=int, default=RANGES, help="longest strings learned from")
    add("--train", help="the translation's training data, as `regard train` takes it")
    add("--valid", help="the translation's validation data")
    add("--test", help="what the translation is measured on")
    add("--source", default="en", help="suffix of the source (default en)")
    add("--target", default="de", help="suffix of the target (default de)")
    add("--parameters", type=int, default=130_000, help="of each model of strings")
    add("--updates", type=int, default=600, help="of each model of strings (default 600)")
    add("--strings", type=int, default=50, help="measured at each length (default 50)")
    add("--translation-parameters", type=int, default=2_000_000, help="of each translator")
    add("--translation-updates", type=int, default=3000, help="of each translator (default 3000)")
    add("--minutes", type=float, help="most wall time of each training (default: no limit)")
    add("--out", type=Path, default=Path("runs/bottleneck"), help="default runs/bottleneck")
    return parser


if __name__ == "__main__":
    sys.exit(main())
