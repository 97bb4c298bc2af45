"""The best and the worst of some outputs, each rated by itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from regard.evaluation.text import chrf
from regard.evaluation.transduction import Splitter, closest_target, symbol_error_rate

#: The figure of a single output against its accepted targets, in percent.
Rating = Callable[[str, Sequence[str]], float]


@dataclass(frozen=True)
class Rated:
    """An output with its figure; index: of its source. target: the closest accepted one."""

    index: int
    target: str
    output: str
    value: float


@dataclass(frozen=True)
class Extremes:
    """The best outputs, best first, and the worst, worst first; none is in both.

    name: of the figure. Of equally good ones those of the longest targets are the best, of equally
    bad ones the worst.
    """

    name: Literal["chrf", "symbol_error_rate"]
    best: tuple[Rated, ...]
    worst: tuple[Rated, ...]


def find_extremes(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    symbols: Splitter,
    *,
    name: Literal["chrf", "symbol_error_rate"] = "chrf",
    most: int = 5,
) -> Extremes:
    """Rate every output by itself and keep `most` at each end.

    symbols: cuts a text into what `symbol_error_rate` counts.
    """

    def rate(output: str, accepted: Sequence[str]) -> float:
        if name == "chrf":
            return chrf([output], [accepted]).value
        return symbol_error_rate([output], [accepted], symbols).value

    rows = zip(hypotheses, references, strict=True)
    rated = [
        Rated(index, closest_target(output, accepted, symbols), output, rate(output, accepted))
        for index, (output, accepted) in enumerate(rows)
    ]
    sign = 1 if name == "chrf" else -1  # of the best, the figure is high or low
    best = sorted(rated, key=lambda each: (-sign * each.value, -len(each.target), each.index))
    worst = sorted(rated, key=lambda each: (sign * each.value, -len(each.target), each.index))
    at_best = best[: min(most, (len(rated) + 1) // 2)]
    at_worst = [each for each in worst if each not in at_best][:most]
    return Extremes(name, tuple(at_best), tuple(at_worst))
