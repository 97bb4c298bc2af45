"""The ending of a run: its last weights validated, the best averaged, the result told."""

from dataclasses import dataclass
from pathlib import Path

from regard.training.averaging import average_weights
from regard.training.checkpoint import weights_path
from regard.training.run import MODEL, encode_model, write_model
from regard.training.selection import beats_baseline, is_better
from regard.training.session import Session, save, validate_candidate, validate_session
from regard.training.state import TrainingState
from regard.training.tensors import fill_model

#: What a model that ends no better than the trivial baseline is told.
_TEXTS = (
    "copying the source or memorizing its most frequent training target ({figure}): train longer, "
    "give more data, or look whether source and target are the right columns"
)
_PICTURES = (
    "the most frequent caption of the training data, for every picture ({figure}): train longer, "
    "give more data, or look whether captions and images belong together"
)


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended.

    reason: `patience`, `maximum_updates`, `maximum_epochs` or `minutes`.
    metric, score: of the model that was kept; `averaged` are the steps whose mean it is (empty:
        it is the model of `best_step`).
    baseline: what copying and memorizing alone reaches, by the same metric.
    training_seconds: spent in updates; elapsed_seconds: all wall time of all sessions.
    """

    directory: Path
    reason: str
    step: int
    epoch: int
    metric: str
    score: float
    best_step: int
    averaged: tuple[int, ...]
    target_tokens: int
    training_seconds: float
    elapsed_seconds: float
    baseline: float

    @property
    def beats_baseline(self) -> bool:
        """Whether the model is better than copying and memorizing alone, or as good as can be."""
        return beats_baseline(self.score, self.baseline, self.metric)


def finish(session: Session, state: TrainingState, reason: str) -> TrainingResult:
    """Validate the last weights if need be, try the average, write the last line of metrics.

    A checkpoint is saved first: whoever resumes with more updates or minutes goes on from there as
    if nothing had ended. Raises TrainingInterrupted when a signal arrives.
    """
    save(session, state)
    if state.best is None or state.validated != state.step:
        validate_candidate(session, state)
    assert state.best is not None
    score, averaged = _try_average(session, state, state.best.score)
    result = TrainingResult(
        session.directory,
        reason,
        state.step,
        state.epoch,
        session.configuration.training.metric,
        score,
        state.best.step,
        averaged,
        state.target_tokens,
        state.training_seconds,
        session.budget.elapsed(),
        session.data.baseline.score,
    )
    _log_end(session, result)
    return result


def _try_average(
    session: Session, state: TrainingState, best: float
) -> tuple[float, tuple[int, ...]]:
    """The score of the model that is kept, and the steps it is the mean of, none if it is not."""
    steps = tuple(candidate.step for candidate in state.candidates)
    if len(steps) < 2:
        return best, ()
    paths = [weights_path(session.checkpoints, step) for step in steps]
    fill_model(session.model, average_weights(paths), paths[0])
    validation = validate_session(session, state)
    training = session.configuration.training
    score = validation.score.value
    better = is_better(score, best, training.metric)
    if better:
        write_model(session.directory, encode_model(session.model))
    session.log.write(
        "validation",
        step=state.step,
        seconds=state.training_seconds,
        elapsed_seconds=session.budget.elapsed(),
        **{training.metric: score},
        perplexity=validation.perplexity,
        validation_seconds=validation.seconds,
        best=better,
        average_of=steps,
    )
    told = "which is better: it is kept" if better else f"not better than {best:.2f}: not kept"
    session.reporter.message(
        f"the average of {len(steps)} models (after {', '.join(f'{step:,}' for step in steps)} "
        f"updates): {training.metric} {score:.2f}, {told}"
    )
    return (score, steps) if better else (best, ())


def _log_end(session: Session, result: TrainingResult) -> None:
    session.log.write(
        "end",
        step=result.step,
        seconds=result.training_seconds,
        elapsed_seconds=result.elapsed_seconds,
        reason=result.reason,
        epochs=result.epoch,
        target_tokens=result.target_tokens,
        **{result.metric: result.score},
        best_step=result.best_step,
        averaged=result.averaged,
    )
    session.reporter.message(
        f"training ended ({result.reason}) after {result.step:,} updates: "
        f"{result.metric} {result.score:.2f}; the model is {session.directory / MODEL}"
    )
    if not result.beats_baseline:
        pictures = session.configuration.model.reads_pictures
        session.reporter.message(
            f"this model is no better than {_PICTURES if pictures else _TEXTS}".format(
                figure=f"{result.metric} {result.baseline:.2f}"
            )
        )
