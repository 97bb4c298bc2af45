"""How sure a figure is: bootstrap intervals over sources (Efron 1979; Koehn 2004 for BLEU)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


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
    counts = np.asarray(statistics, dtype=np.float64)
    if counts.ndim != 2 or not len(counts):
        raise ValueError("statistics must be [sources][counts] with at least one source")
    generator = np.random.default_rng(seed)
    sources = len(counts)
    figures = [
        combine(counts[generator.integers(sources, size=sources)].sum(axis=0).tolist())
        for _ in range(resamples)
    ]
    outside = (1 - level) / 2
    low, high = np.quantile(figures, [outside, 1 - outside])
    return Interval(float(low), float(high), level)
