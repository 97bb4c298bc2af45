"""Words, phones and how they are aligned, out of a package of gruut, as files.

    python benchmarks/pronunciations.py de --out german

Writes train.tsv, valid.tsv and test.tsv, and of the test words whose alignment is known aligned.tsv
and aligned.align (links from letters to phones), for `regard evaluate --alignments aligned.align
--tokens`. The package is the demo's (gruut-lang-it), or `pip install gruut-lang-de`.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from regard.data.pairs import Pair
from regard.data.pronunciations import LANGUAGES, read_pronunciations
from regard.errors import UserError
from regard.files import make_directory, write_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files; 2 after one line when something is wrong."""
    options = _parser().parse_args(arguments)
    try:
        found = read_pronunciations(
            options.seed,
            language=options.language,
            valid=options.valid,
            held_out=options.test,
        )
        make_directory(options.out)
        parts = {"train": found.train, "valid": found.valid, "test": found.held_out}
        for name, pairs in parts.items():
            _write(options.out / f"{name}.tsv", pairs)
        _write(options.out / "aligned.tsv", [each.pair for each in found.aligned])
        links = "".join(f"{each.alignment.pharaoh()}\n" for each in found.aligned)
        write_text(options.out / "aligned.align", links)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for reason, count in found.left_out.items():
        print(f"left out: {count:,} entries, {reason}")
    print(f"{found.unaligned:,} test words have no alignment that fits them")
    return 0


def _write(path: Path, pairs: Iterable[Pair]) -> None:
    rows = [f"{pair.source}\t{pair.target}\n" for pair in pairs]
    write_text(path, "".join(rows))
    print(f"{path}: {len(rows):,} rows")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Words, phones and their alignment as files.")
    add = parser.add_argument
    add("language", choices=sorted(LANGUAGES), help="whose pronunciations")
    add("--out", type=Path, required=True, help="folder to write into")
    add("--seed", type=int, default=1, help="of the split (default 1)")
    add("--valid", type=int, default=500, help="words to validate on (default 500)")
    add("--test", type=int, default=1500, help="words to hold out (default 1,500)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
