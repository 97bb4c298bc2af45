"""What several commands read from their command line alike."""


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers with commas between them, as argparse's `type`."""
    return tuple(int(number) for number in text.split(","))
