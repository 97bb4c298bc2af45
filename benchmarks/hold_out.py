"""CMUdict as pairs: development words held out by a fixed rule, a row for each accepted target.

The split "g014b2b" has no development words. Of the distinct training words in their order of
appearance, every 40th, the first included, is held out until there are 2,670, with all its
pronunciations. The reference file lists several accepted pronunciations of a word in one row; here
each has a row of its own, as ``regard evaluate`` reads them.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

STRIDE, COUNT = 40, 2670

Row = tuple[str, str]


def hold_out(rows: Sequence[Row], stride: int = STRIDE, count: int = COUNT) -> list[list[Row]]:
    """Training rows and development rows; words, not rows, are parted."""
    words = list(dict.fromkeys(word for word, _ in rows))
    held = set(words[::stride][:count])
    return [[row for row in rows if (row[0] in held) == wanted] for wanted in (False, True)]


def accepted(lines: Sequence[str]) -> list[Row]:
    """A row for each accepted pronunciation: ``word TAB phones [TAB phones ...]``."""
    rows = []
    for line in lines:
        word, *pronunciations = line.split("\t")
        rows += [(word, phones) for phones in pronunciations if phones.strip()]
    return rows


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def _write(path: Path, rows: Sequence[Row]) -> None:
    path.write_text("".join(f"{word}\t{phones}\n" for word, phones in rows), encoding="utf-8")
    print(f"{path}: {len(rows):,} rows, {len({word for word, _ in rows}):,} words")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="of g014b2b.train and g014b2b.ref")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    train, dev = hold_out(accepted(_lines(options.folder / "g014b2b.train")))
    _write(options.out / "train.tsv", train)
    _write(options.out / "dev.tsv", dev)
    _write(options.out / "test.tsv", accepted(_lines(options.folder / "g014b2b.ref")))


if __name__ == "__main__":
    main()
