"""Symbols that training never saw: each line that has some is named, up to a few, then counted."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from regard.cli.streams import report
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import AlignedPair, Translation
    from regard.data.pairs import Pairs

#: Lines that are named before the others are only counted.
NAMED = 5


class UnseenSymbols:
    """Tells a person, on standard error, which symbols of their input the model does not know."""

    def __init__(self) -> None:
        self._lines = 0
        self._features: set[str] = set()

    def tell(self, answer: "Translation | AlignedPair", place: str) -> None:
        """Name what is unseen in a text and its target, which stand at `place`, as in `line 3`.

        Features are named once each, whatever their line.
        """
        if answer.unseen or answer.unseen_target:
            self._lines += 1
            if self._lines <= NAMED:
                _tell_symbols(answer, place)
        new = [each for each in answer.unseen_features if each not in self._features]
        if new:
            self._features.update(new)
            report(
                f"regard: never seen in training, so read as unknown: the features {', '.join(new)}"
            )

    def close(self) -> None:
        """Count the lines that were not named."""
        more = self._lines - NAMED
        if more > 0:
            lines = "1 more line has" if more == 1 else f"{more:,} more lines have"
            report(f"regard: {lines} symbols never seen in training")


def check_answered(answers: "Sequence[Translation]", asked: "Pairs") -> None:
    """Tell of symbols never seen. Raises UserError for a source that could not be answered."""
    unseen = UnseenSymbols()
    for index, answer in enumerate(answers):
        if answer.problem is not None:
            raise UserError(
                f"{asked.origin}, {asked.place(index)}: the source has {answer.problem}; leave "
                "such sources out to measure the rest"
            )
        unseen.tell(answer, asked.place(index))
    unseen.close()


def _tell_symbols(answer: "Translation | AlignedPair", place: str) -> None:
    from regard.data.tokenizers import named

    if answer.unseen:
        report(
            f"regard: {place}: never seen in training, so read as unknown: {named(answer.unseen)}"
        )
    if answer.unseen_target:
        report(
            f"regard: {place}: in no training target, so scored as unknown: "
            f"{named(answer.unseen_target)}"
        )
