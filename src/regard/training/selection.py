"""Selection: which validated weights are the best so far, and which may be averaged."""

from regard.evaluation import better
from regard.training.configuration import AverageConfiguration, TrainingConfiguration
from regard.training.state import Candidate, TrainingState


def is_better(score: float, than: float, metric: str) -> bool:
    """Whether a score of `metric` is strictly better than another."""
    return score > than if better(metric) == "higher" else score < than


def beats_baseline(score: float, baseline: float, metric: str) -> bool:
    """Whether a model is better than the trivial baseline, or as good as can be."""
    perfect = 100 if better(metric) == "higher" else 0
    return score == perfect or is_better(score, baseline, metric)


def consider(state: TrainingState, candidate: Candidate, training: TrainingConfiguration) -> bool:
    """Take up newly validated weights; True when they are the best so far.

    The first of equally good ones is the best; `worse` counts validations that were not better.
    """
    improved = state.best is None or is_better(candidate.score, state.best.score, training.metric)
    if improved:
        state.best, state.worse = candidate, 0
    else:
        state.worse += 1
    others = [known for known in state.candidates if known.step != candidate.step]
    state.candidates = _kept([*others, candidate], training.average, training.metric)
    return improved


def _kept(
    candidates: list[Candidate], average: AverageConfiguration, metric: str
) -> list[Candidate]:
    """The candidates that the average would take, in the order of their steps."""
    if average.kind in ("none", "exponential"):
        return []
    ranked = sorted(candidates, key=lambda candidate: -candidate.step)
    if average.kind == "best":
        sign = -1 if better(metric) == "higher" else 1
        ranked.sort(key=lambda candidate: sign * candidate.score)  # the later of equal ones first
    return sorted(ranked[: average.count], key=lambda candidate: candidate.step)
