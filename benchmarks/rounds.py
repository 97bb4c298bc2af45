"""Figures of tools that were run in turn, round after round: medians, ratios, and their cells."""

import statistics
from collections.abc import Sequence

SUBJECT = "regard"
#: Heads of `ratio_cells`; the space tells the second from speeds by round.
RATIO_HEAD = (f"{SUBJECT} is", "by round ")
#: Heads of `cost_cells`.
COST_HEAD = ("padding", "peak memory")


def median(values: Sequence[float | None]) -> float | None:
    """Of the values that were told; None where none was."""
    told = [value for value in values if value is not None]
    return statistics.median(told) if told else None


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, ...]:
    """Our speed over theirs in each round; empty when one of both was not run."""
    return tuple(one / other for one, other in zip(ours, theirs, strict=False))


def ratio_cells(found: Sequence[float]) -> list[str]:
    """The median of ratios, and each of them."""
    middle = median(found)
    each = " ".join(f"{ratio:.2f}" for ratio in found)
    return ["-" if middle is None else f"{middle:.2f}x", each or "-"]


def cost_cells(padding: float | None, memory: float | None) -> list[str]:
    """Share of padding, and memory, which is given in bytes."""
    return [
        "-" if padding is None else f"{padding:.1%}",
        "-" if memory is None else f"{memory / 1e9:.2f} GB",
    ]
