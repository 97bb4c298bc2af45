"""What several commands read from their command line alike."""

import argparse

from regard.data.pairs import Pairs, read_pairs


def add_data(parser: argparse.ArgumentParser) -> None:
    """Options that name training, validation and test data, and their two sides."""
    for name in ("--train", "--valid", "--test"):
        parser.add_argument(name, required=True, help="pairs, as `regard train` takes them")
    for name in ("--source", "--target"):
        parser.add_argument(name, help="as `regard train` takes it")


def read_data(options: argparse.Namespace) -> tuple[Pairs, Pairs, Pairs]:
    """Training, validation and test pairs. Raises UserError for what cannot be read."""
    learned, valid, test = (
        read_pairs(data, options.source, options.target)
        for data in (options.train, options.valid, options.test)
    )
    return learned, valid, test


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers with commas between them, as argparse's `type`."""
    return tuple(int(number) for number in text.split(","))
