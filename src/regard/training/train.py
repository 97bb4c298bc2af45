"""Train: a configuration and pairs become a run directory, from the start or from a checkpoint."""

import shutil
from dataclasses import replace
from pathlib import Path

import torch

from regard.data.configuration import FeaturesConfiguration
from regard.data.images.backbone import Backbone
from regard.data.pairs import Pairs
from regard.data.tokenizers import save_tokenizers, train_tokenizers
from regard.errors import UserError
from regard.files import make_directory
from regard.training.allocator import keep_freed_memory
from regard.training.beginning import begun_run
from regard.training.budget import Budget
from regard.training.checkpoint import delete_partial, read_checkpoint
from regard.training.configuration import Configuration
from regard.training.continuation import (
    check_same_data,
    check_same_settings,
    checkpoint_to_resume,
)
from regard.training.ending import TrainingResult, finish
from regard.training.interruption import Stop, never
from regard.training.lock import locked
from regard.training.loop import run_updates
from regard.training.preparation import (
    Request,
    check_request,
    grid_of,
    hashes,
    prepare,
)
from regard.training.progress import Reporter, make_reporter
from regard.training.run import (
    CHECKPOINTS,
    TOKENIZER,
    read_configuration,
    read_tokenizers,
    vocabulary_of,
    write_backbone,
    write_configuration,
)
from regard.training.session import Session, save
from regard.training.state import TrainingState
from regard.training.telling import facts, tell, versions
from regard.training.threads import resolve_threads


def train(
    configuration: Configuration,
    train: Pairs,
    valid: Pairs,
    out: Path,
    *,
    backbone: Backbone | None = None,
    begin: Path | None = None,
    minutes: float | None = None,
    resume: bool = False,
    progress: bool | Reporter = True,
    stop: Stop | None = None,
) -> TrainingResult:
    """Train a model on `train`, choose it by `valid`, and leave it in the run directory `out`.

    backbone: what made the pictures of the pairs, where they have any; the run directory keeps it.
    begin: a run whose weights and tokenizers it begins with; a resumed run needs none.
    minutes: wall time of the whole run, all its sessions together, validations included.
    resume: go on from the last checkpoint in `out`, to the very same weights as without a stop
        (but for a cooldown that `minutes` ends: the clock is never the same twice); from the
        beginning when there is none. Without it `out` must not exist.
    progress: whether to tell on standard error how it goes, or who tells it.
    stop: asked between updates; the number of a signal that arrived, or None.
    Raises UserError for data, settings or directories that do not fit; TrainingInterrupted, with
    everything saved, after `stop`. Sets torch's threads and seeds the global random states.
    """
    if minutes is not None and not 0 < minutes < float("inf"):
        raise UserError(f"minutes is {minutes}; it must be more than 0")
    budget = Budget(None if minutes is None else 60 * minutes)
    checkpoint = checkpoint_to_resume(out, resume)
    configuration = with_features(_with_threads(configuration), train)
    configuration = with_backbone(configuration, backbone)
    keep_freed_memory()
    torch.set_num_threads(configuration.training.threads)
    reporter = make_reporter(progress)
    try:
        stop = stop or never
        request = Request(configuration, train, valid, out, budget, reporter, stop, backbone)
        check_request(request)
        if checkpoint is None:
            return _start(replace(request, begun=begun_run(begin, request)))
        with locked(out / CHECKPOINTS):
            session, state = _continue(request, checkpoint)
            return finish(session, state, run_updates(session, state))
    finally:
        reporter.close()


def _start(request: Request) -> TrainingResult:
    """From the beginning; the directory is made once everything that can be wrong was right."""
    out, configuration = request.out, request.configuration
    seed = configuration.training.seed
    tokenizers = train_tokenizers(configuration.tokenization, request.train, seed)
    if request.begun is not None:
        tokenizers = request.begun.tokenizers
    session, state = prepare(request, tokenizers), TrainingState()
    made = not out.exists()
    make_directory(out / CHECKPOINTS)
    with locked(out / CHECKPOINTS):
        try:
            _lay_out(request, session, state)
        except BaseException:
            if made:
                shutil.rmtree(out, ignore_errors=True)
            raise
        return finish(session, state, run_updates(session, state))


def _lay_out(request: Request, session: Session, state: TrainingState) -> None:
    """Fill a new run directory. The checkpoint comes last: where it is, the rest is there too."""
    out = request.out
    _delete_partial_files(out)
    save_tokenizers(session.tokenizers, out / TOKENIZER)
    if request.backbone is not None:
        write_backbone(out, request.backbone)
    sizes = vocabulary_of(session.tokenizers, grid_of(request.train))
    write_configuration(out, session.configuration, sizes)
    told = facts(request, session)
    session.log.cut_back(0)
    session.log.write("start", step=0, seconds=0.0, **told)
    tell(request, session, told)
    save(session, state)


def _continue(request: Request, path: Path) -> tuple[Session, TrainingState]:
    """The session and state of a checkpoint, after making sure that it is the same run."""
    out = request.out
    saved, sizes, _ = read_configuration(out)
    check_same_settings(saved, request.configuration, out)
    checkpoint = read_checkpoint(path)
    check_same_data(checkpoint, hashes(request))
    session = prepare(request, read_tokenizers(out, sizes))
    checkpoint.restore(session.model, session.optimizer, session.average)
    state = checkpoint.state
    session.budget.before = state.elapsed_seconds
    session.budget.validation_seconds = state.validation_seconds
    _delete_partial_files(out)
    session.log.cut_back(checkpoint.metrics_position)
    write_configuration(out, session.configuration, sizes)
    session.log.write(
        "resume", step=state.step, seconds=state.training_seconds, versions=versions()
    )
    tell(request, session, facts(request, session))
    session.reporter.message(f"resumed after {state.step:,} updates")
    return session, state


def with_features(configuration: Configuration, pairs: Pairs) -> Configuration:
    """The configuration with `tokenization.features` filled in where the pairs have features."""
    tokenization = configuration.tokenization
    if tokenization.features is not None or not pairs.have_features:
        return configuration
    tokenization = tokenization.model_copy(update={"features": FeaturesConfiguration()})
    return configuration.model_copy(update={"tokenization": tokenization})


def with_backbone(configuration: Configuration, backbone: Backbone | None) -> Configuration:
    """The configuration of a run that keeps the backbone, with its weights; of none, if it is None.

    What made its weights is named by a hash in checkpoints, and a file of them is needed no more.
    """
    chosen = configuration.backbone
    if chosen is not None:
        chosen = None if backbone is None else chosen.model_copy(update={"weights": None})
    return configuration.model_copy(update={"backbone": chosen})


def _with_threads(configuration: Configuration) -> Configuration:
    """The configuration with its number of threads decided."""
    training = configuration.training
    threads = resolve_threads(training.threads)
    return configuration.model_copy(
        update={"training": training.model_copy(update={"threads": threads})}
    )


def _delete_partial_files(out: Path) -> None:
    for folder in (out, out / CHECKPOINTS, out / TOKENIZER):
        delete_partial(folder)
