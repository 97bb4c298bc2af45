"""Scores that are means over images."""

from collections.abc import Sequence

from regard.evaluation.intervals import bootstrap_interval
from regard.evaluation.score import Score


def mean_score(name: str, values: Sequence[float], signature: str, resamples: int) -> Score:
    """The mean of what each image scored, from 0 to 1, in percent; higher is better."""
    interval = None
    if resamples:
        rows = [(100 * value,) for value in values]
        count = len(rows)
        interval = bootstrap_interval(rows, lambda sums: sums[0] / count, resamples=resamples)
    return Score(name, 100 * sum(values) / len(values), signature, "higher", interval)
