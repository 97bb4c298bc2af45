"""The state of a training run: where it is, what it has counted, what it has chosen."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """Weights that were validated after `step` updates, and what they scored."""

    step: int
    score: float


@dataclass
class Window:
    """Sums since the last line of metrics.jsonl, over real target tokens."""

    loss: float = 0.0
    negative_log_likelihood: float = 0.0
    tokens: int = 0
    real: int = 0
    positions: int = 0

    @property
    def padding(self) -> float:
        """The share of positions, of sources and targets together, that was padding."""
        return 1 - self.real / self.positions if self.positions else 0.0


@dataclass
class TrainingState:
    """Everything but tensors that the next update depends on, and what is counted for people.

    step: updates done. epoch: the current pass over the data, from 0; batch: batches done of it.
    target_tokens, source_tokens: real ones that were trained on so far, END included.
    training_seconds: spent in updates. elapsed_seconds: all wall time, what `--minutes` counts.
    validated: the step of the last validation, which took `validation_seconds`.
    best: the candidate with the best score; worse: validations since then.
    candidates: what averaging may take, in the order of their steps.
    baseline: of hard attention's rewards, the moving average of ``log p(y | l)``; None before any.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    target_tokens: int = 0
    source_tokens: int = 0
    training_seconds: float = 0.0
    elapsed_seconds: float = 0.0
    validated: int = 0
    validation_seconds: float = 0.0
    best: Candidate | None = None
    worse: int = 0
    candidates: list[Candidate] = field(default_factory=list)
    baseline: float | None = None
    window: Window = field(default_factory=Window)

    def follow(self, log_likelihood: float, decay: float) -> None:
        """Move the baseline: ``b <- 0.9 b + 0.1 log p(y | l)`` with a decay of 0.9 (A12).

        log_likelihood: the mean of a batch's examples; the first one is the first baseline.
        """
        before = log_likelihood if self.baseline is None else self.baseline
        self.baseline = decay * before + (1 - decay) * log_likelihood

    def as_dict(self) -> dict[str, Any]:
        """In JSON's terms; floats come back exactly."""
        return asdict(self)


def parse_state(data: dict[str, Any]) -> TrainingState:
    """The state that `as_dict` wrote. Raises TypeError or KeyError when it is not one."""
    data = dict(data)
    best = data.pop("best")
    candidates = [Candidate(**candidate) for candidate in data.pop("candidates")]
    return TrainingState(
        best=None if best is None else Candidate(**best),
        candidates=candidates,
        window=Window(**data.pop("window")),
        **data,
    )
