"""Word alignments by eflomal (Östling and Tiedemann 2016), to grade beside attention's.

    python benchmarks/eflomal_links.py --train train.tsv --data hansards.tsv --out hansards.eflomal
    python benchmarks/eflomal_links.py --data train.tsv --out train.links

It aligns all pairs together, those of --data (a TSV, source first) too, for it has no other way of
aligning them; --train has further ones to learn from. Links of both directions, symmetrized as
`regard align` does it, in Pharaoh format. eflomal comes from pip; --eflomal names its
`eflomal-align` where that lies in another environment.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from regard.data.alignment import Alignment
from regard.data.pairs import Pair, read_pairs
from regard.errors import UserError
from regard.evaluation import read_alignments
from regard.evaluation.alignment import Links
from regard.evaluation.symmetrization import SYMMETRIZATIONS, symmetrize
from regard.files import write_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the links; 2 after one line when something is wrong."""
    options = _parser().parse_args(arguments)
    try:
        learned = () if options.train is None else read_pairs(options.train, *options.columns)
        asked = read_pairs(options.data, "1", "2")
        with tempfile.TemporaryDirectory() as folder:
            forward, reverse = _aligned(options, Path(folder), [*learned, *asked])
        count = len(asked)
        lines = [
            Alignment(symmetrize(one, other, options.symmetrize)).pharaoh()
            for one, other in zip(forward[-count:], reverse[-count:], strict=True)
        ]
        write_text(options.out, "".join(f"{line}\n" for line in lines))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: {count:,} pairs, learned beside {len(learned):,} others")
    return 0


def _aligned(
    options: argparse.Namespace, folder: Path, pairs: Sequence[Pair]
) -> tuple[list[Links], list[Links]]:
    """The links of both directions, source first in each."""
    sides = {"source": (p.source for p in pairs), "target": (p.target for p in pairs)}
    for name, texts in sides.items():
        write_text(folder / name, "".join(f"{text.lower()}\n" for text in texts))
    places = ("-s", "source", "-t", "target", "-f", "forward", "-r", "reverse")
    command = [options.eflomal, "--model", "3", *places]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise UserError(
            f"--eflomal: {options.eflomal} is not there; pip install eflomal"
        ) from error
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"eflomal failed: {last}") from error
    names = ("forward", "reverse")
    forward, reverse = (read_alignments(folder / name, len(pairs)) for name in names)
    return [each.links for each in forward], [each.links for each in reverse]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Word alignments by eflomal.")
    add = parser.add_argument
    add("--train", type=Path, help="further pairs to learn from (TSV, .gz too)")
    add(
        "--columns",
        nargs=2,
        default=("1", "2"),
        metavar=("SOURCE", "TARGET"),
        help="columns of --train (default 1 2)",
    )
    add("--data", type=Path, required=True, help="the pairs to align (TSV, source first)")
    add("--out", type=Path, required=True, help="file of links to write")
    add("--symmetrize", choices=sorted(SYMMETRIZATIONS), default="grow-diag-final-and", help="how")
    add("--eflomal", default="eflomal-align", help="its command (default eflomal-align)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
