"""How sure a figure is: bootstrap intervals over sources (Efron 1979; Koehn 2004 for BLEU)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[Any]

#: Counts held at once while drawing: memory stays bounded whatever is asked for.
MOST_COUNTS = 2_000_000


@dataclass(frozen=True)
class Interval:
    """Where the figure would lie in `level` of the test sets resampled from this one."""

    low: float
    high: float
    level: float


def bootstrap_interval(
    statistics: Sequence[Sequence[float]],
    combine: Callable[[Sequence[float]], float],
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
) -> Interval:
    """A percentile bootstrap interval for a figure computed from sums over sources.

    statistics: `[sources][counts]`, what each source adds (edits and symbols, say).
    combine: turns sums, one for each count, into the figure.
    resamples: how many test sets to draw, with replacement, each of as many sources.
    The same arguments give the same interval.
    """
    import numpy as np

    if not 0 < level < 1:
        raise ValueError(f"level is a share between 0 and 1, not {level}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    kinds, shares = _kinds(statistics)
    figures = [
        combine(sums)
        for drawn in _draws(shares, len(statistics), resamples, seed)
        for sums in (drawn @ kinds).tolist()
    ]
    outside = (1 - level) / 2
    low, high = np.quantile(figures, [outside, 1 - outside])
    return Interval(float(low), float(high), level)


def _kinds(statistics: Sequence[Sequence[float]]) -> tuple["Counts", "Counts"]:
    """The distinct rows of `statistics`, and what share of the sources has each."""
    import numpy as np

    counts = np.asarray(statistics, dtype=np.float64)
    if counts.ndim != 2 or not len(counts):
        raise ValueError("statistics must be [sources][counts] with at least one source")
    kinds, numbers = np.unique(counts, axis=0, return_counts=True)
    return kinds, numbers / len(counts)


def _draws(shares: "Counts", sources: int, resamples: int, seed: int) -> Iterator["Counts"]:
    """How often each kind of source comes in each resample: `[some resamples, kinds]` at a time.

    Drawing sources one by one and counting their kinds is a multinomial draw, and there are far
    fewer kinds than sources: most words have no edits and one of a few lengths.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    at_once = max(1, MOST_COUNTS // len(shares))
    for start in range(0, resamples, at_once):
        yield generator.multinomial(sources, shares, size=min(at_once, resamples - start))
