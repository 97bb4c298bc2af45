"""Pairs of sentences in Moses' tokens, with spaces between them, as files of word alignments have.

    python benchmarks/moses_tokens.py tatoeba/en-fr/train.tsv.gz --languages en fr --out train.tsv

Reads the first two columns and writes a TSV of two. Typographic quotes and dashes become plain
(Moses' normalization). With --tokens-already the tokens stay what they are, and only quotes become
plain: for true alignments, which count tokens.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from regard.data.pairs import read_pairs
from regard.errors import UserError
from regard.files import write_text

_PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; 2 after one line when something is wrong."""
    options = _parser().parse_args(arguments)
    try:
        pairs = read_pairs(options.pairs, "1", "2")
        tokenize = [
            _plain if options.tokens_already else _moses(language) for language in options.languages
        ]
        rows = [f"{tokenize[0](pair.source)}\t{tokenize[1](pair.target)}\n" for pair in pairs]
        write_text(options.out, "".join(rows))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: {len(rows):,} rows")
    return 0


def _plain(text: str) -> str:
    return text.translate(_PLAIN)


def _moses(language: str) -> Callable[[str], str]:
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalizer, tokenizer = MosesPunctNormalizer(language), MosesTokenizer(language)

    def tokenized(text: str) -> str:
        return str(tokenizer.tokenize(normalizer.normalize(text), escape=False, return_str=True))

    return tokenized


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Pairs of sentences in Moses' tokens.")
    add = parser.add_argument
    add("pairs", type=Path, help="FILE.tsv (.gz too); its first two columns are read")
    add("--languages", nargs=2, required=True, metavar=("SOURCE", "TARGET"), help="as in en fr")
    add("--out", type=Path, required=True, help="the TSV to write")
    add("--tokens-already", action="store_true", help="keep tokens; make quotes plain")
    return parser


if __name__ == "__main__":
    sys.exit(main())
