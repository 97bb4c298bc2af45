"""A session: everything that one process trains a run with, and what it saves of it."""

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from regard.data.batches import Example
from regard.data.pairs import Pairs
from regard.data.tokenizers import Tokenizers
from regard.files import write_bytes
from regard.models import Model
from regard.training.baseline import Baseline
from regard.training.budget import Budget
from regard.training.checkpoint import save_checkpoint, weights_path
from regard.training.configuration import Configuration
from regard.training.exponential_average import ExponentialAverage
from regard.training.interruption import Stop, TrainingInterrupted
from regard.training.metrics import MetricsLog
from regard.training.optimizer import Adam
from regard.training.progress import Recent, Reporter
from regard.training.rewards import CaptionRewards
from regard.training.run import CHECKPOINTS, encode_model, write_model
from regard.training.selection import consider
from regard.training.shards import Shards
from regard.training.state import Candidate, TrainingState
from regard.training.validation import Validation, ValidationData, validate


@dataclass(frozen=True)
class Data:
    """What is trained and validated on; `hashes` name it in checkpoints."""

    pairs: Pairs
    examples: list[Example]
    validation: ValidationData
    baseline: Baseline
    hashes: dict[str, str]


@dataclass
class Session:
    """The parts of a run in this process; the training state is passed beside it.

    average: of the weights, where there is an exponential one: what is validated and kept.
    rewards: of captions, where the model learns from those that it draws.
    saved: when the last checkpoint was saved. validation: what the last one said, for people.
    """

    configuration: Configuration
    directory: Path
    tokenizers: Tokenizers
    data: Data
    model: Model
    optimizer: Adam
    shards: Shards
    log: MetricsLog
    reporter: Reporter
    stop: Stop
    budget: Budget
    average: ExponentialAverage | None = None
    rewards: CaptionRewards | None = None
    recent: Recent = field(default_factory=Recent)
    saved: float = field(default_factory=time.monotonic)
    validation: str = ""

    @property
    def checkpoints(self) -> Path:
        return self.directory / CHECKPOINTS

    def averaged(self) -> AbstractContextManager[None]:
        """Within, the model has the averages as its weights, where there are any."""
        return nullcontext() if self.average is None else self.average.in_place()


def save(session: Session, state: TrainingState) -> None:
    """Save a checkpoint of now."""
    state.elapsed_seconds = session.budget.elapsed()
    save_checkpoint(
        session.checkpoints,
        state,
        session.model,
        session.optimizer,
        session.average,
        metrics_position=session.log.position(),
        data=session.data.hashes,
        keep=session.configuration.training.checkpoints,
    )
    session.saved = time.monotonic()


def stop_if_asked(session: Session, state: TrainingState) -> None:
    """Raise TrainingInterrupted when a signal has arrived; saves nothing."""
    signal = session.stop()
    if signal is not None:
        raise TrainingInterrupted(signal, state.step, session.directory)


def validate_session(session: Session, state: TrainingState) -> Validation:
    """Validate the model as it is now; leaves it in evaluation mode.

    Raises TrainingInterrupted when a signal arrives: the validation is done again after a resume.
    """

    def on_progress(done: int, total: int) -> None:
        session.reporter.counting("validating", done, total)
        stop_if_asked(session, state)

    data, configuration = session.data.validation, session.configuration
    validation = validate(session.model, session.tokenizers, data, configuration, on_progress)
    session.budget.validation_seconds = state.validation_seconds = validation.seconds
    return validation


def validate_candidate(session: Session, state: TrainingState) -> None:
    """Validate the current weights, keep them for the average, and as the model if they are best.

    Of an exponential average, it is that which is validated and kept. The model is left in training
    mode.
    """
    with session.averaged():
        validation = validate_session(session, state)
        weights = encode_model(session.model)
    session.model.train()
    training = session.configuration.training
    candidate = Candidate(state.step, validation.score.value)
    improved = consider(state, candidate, training)
    state.validated = state.step
    if candidate in state.candidates:
        write_bytes(weights_path(session.checkpoints, state.step), weights)
    if improved:
        write_model(session.directory, weights)
    session.log.write(
        "validation",
        step=state.step,
        seconds=state.training_seconds,
        elapsed_seconds=session.budget.elapsed(),
        **{training.metric: validation.score.value},
        perplexity=validation.perplexity,
        validation_seconds=validation.seconds,
        best=improved,
    )
    _tell(session, state, validation, improved)


def _tell(session: Session, state: TrainingState, validation: Validation, improved: bool) -> None:
    assert state.best is not None
    metric, value = session.configuration.training.metric, validation.score.value
    best = "the best so far" if improved else f"best {state.best.score:.2f} at {state.best.step:,}"
    session.validation = f"{metric} {value:.2f} at {state.step:,} ({best})"
    session.reporter.message(
        f"validated after {state.step:,} updates: {metric} {value:.2f}, "
        f"perplexity {validation.perplexity:,.2f} in {validation.seconds:.1f} s; {best}"
    )
