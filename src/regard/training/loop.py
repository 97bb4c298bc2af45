"""The loop: update after update, with validations and checkpoints in between, until it ends."""

import math
import time
from dataclasses import replace

from torch import Tensor

from regard.data.batches import Batch, collate
from regard.data.pictures import Picture
from regard.errors import UserError
from regard.training.attention_costs import AttentionCosts
from regard.training.configuration import TrainingConfiguration
from regard.training.epoch import plan_epoch
from regard.training.interruption import TrainingInterrupted
from regard.training.loss import Loss
from regard.training.metrics import perplexity
from regard.training.mixing import gold_share, mixed_inputs
from regard.training.optimizer import clip_gradients
from regard.training.progress import Glance
from regard.training.rewards import CaptionRewards
from regard.training.schedule import learning_rate
from regard.training.self_critical import self_critical_gradients
from regard.training.session import Session, save, stop_if_asked, validate_candidate
from regard.training.state import TrainingState, Window

#: Updates between two lines of metrics.jsonl.
LOG_INTERVAL = 50


def run_updates(session: Session, state: TrainingState) -> str:
    """Train until an end is reached, and say which: `patience`, `maximum_updates`, ...

    Raises TrainingInterrupted, with everything saved, when `stop` asks for it; UserError when the
    loss is no longer a number.
    """
    try:
        return _until_an_end(session, state)
    except TrainingInterrupted:
        save(session, state)
        raise


def _until_an_end(session: Session, state: TrainingState) -> str:
    epoch = plan_epoch(session, state.epoch)
    session.model.train()
    while True:
        if validation_due(session, state):
            validate_candidate(session, state)
            save(session, state)
        reason = reason_to_end(session, state)
        if reason is not None:
            return reason
        stop_if_asked(session, state)
        if epoch.number != state.epoch:
            epoch = plan_epoch(session, state.epoch)
        update(session, state, collate(epoch.examples, epoch.batches[state.batch]))
        _log(session, state)
        session.reporter.training(_glance(session, state, len(epoch.batches)))
        state.batch += 1
        if state.batch == len(epoch.batches):
            state.epoch, state.batch = state.epoch + 1, 0
        interval = session.configuration.training.checkpoint_interval_seconds
        if time.monotonic() - session.saved >= interval:
            save(session, state)


def update(session: Session, state: TrainingState, batch: Batch) -> None:
    """One step of the optimizer on one batch, and what is counted of it."""
    started = time.perf_counter()
    training = session.configuration.training
    if not training.teacher_forcing.always:
        share = gold_share(training.teacher_forcing, state.step)
        batch = replace(batch, inputs=mixed_inputs(session.model, batch, share))
    session.optimizer.forget_gradients()
    if session.rewards is not None:
        losses, batch = _rewarded(session, session.rewards, state, batch)
    else:
        losses = session.shards.backward(
            batch,
            training.label_smoothing,
            training.ponder_cost,
            training.r_drop,
            _attention_costs(training, state),
        )
    norm = clip_gradients(session.model, training.gradient_clip)
    _check_finite(losses, norm, session, state)
    size = session.configuration.model.embedding.size
    rate = learning_rate(state.step + 1, training, share_done(session, state), size=size)
    session.optimizer.update(rate)
    if session.average is not None:
        session.average.update(state.step + 1)
    if session.configuration.model.draws:
        tokens = int(batch.mask.sum()) / len(batch.mask)
        likelihood = -losses.negative_log_likelihood.item() * tokens
        state.follow(likelihood, training.reinforce.baseline_decay)
    _count(session, state, batch, losses, time.perf_counter() - started)


def _rewarded(
    session: Session, rewards: CaptionRewards, state: TrainingState, batch: Batch
) -> tuple[Loss, Batch]:
    """Gradients of what the model's own captions earn; these are what is counted."""
    sources = [session.data.examples[index].source for index in batch.indices]
    return self_critical_gradients(
        session.model,
        batch,
        [source.number for source in sources if isinstance(source, Picture)],
        rewards,
        session.configuration.search,
        seed=session.configuration.training.seed,
        step=state.step,
    )


def _attention_costs(training: TrainingConfiguration, state: TrainingState) -> AttentionCosts:
    reinforce = training.reinforce
    return AttentionCosts(
        training.doubly_stochastic,
        training.supervision,
        reinforce.reward,
        reinforce.entropy,
        state.baseline,
    )


def validation_due(session: Session, state: TrainingState) -> bool:
    """Whether the validation of this step is still to be done."""
    interval = session.configuration.training.validation_interval
    return state.step > 0 and state.step % interval == 0 and state.validated != state.step


def reason_to_end(session: Session, state: TrainingState) -> str | None:
    """The end that has been reached, if one has: its key in the configuration, or `minutes`."""
    training = session.configuration.training
    if training.patience and state.worse >= training.patience:
        return "patience"
    if training.maximum_updates and state.step >= training.maximum_updates:
        return "maximum_updates"
    if training.maximum_epochs and state.epoch >= training.maximum_epochs:
        return "maximum_epochs"
    left = session.budget.left(_validations_to_come(session, state))
    return "minutes" if left is not None and left <= 0 else None


def share_done(session: Session, state: TrainingState) -> float:
    """How much of the run is over, by whichever end is nearest: 0 at first, 1 at the end."""
    training = session.configuration.training
    shares = [0.0]
    if training.maximum_updates:
        shares.append(state.step / training.maximum_updates)
    if training.maximum_epochs:
        shares.append(state.epoch / training.maximum_epochs)
    left = session.budget.left(_validations_to_come(session, state))
    if left is not None:
        elapsed = session.budget.elapsed()
        shares.append(elapsed / max(elapsed + left, 1e-9))
    return min(1.0, max(shares))


def _validations_to_come(session: Session, state: TrainingState) -> int:
    """If training ended now: of the last weights, and of the average."""
    last = state.validated != state.step
    average = session.configuration.training.average.kind in ("best", "last")
    return int(last) + int(average and len(state.candidates) + last > 1)


def _check_finite(losses: Loss, norm: Tensor, session: Session, state: TrainingState) -> None:
    loss_is_finite = math.isfinite(losses.loss.item())
    if loss_is_finite and math.isfinite(norm.item()):
        return
    training = session.configuration.training
    what = "gradient" if loss_is_finite else "loss"
    raise UserError(
        f"the {what} is no longer a number at update {state.step + 1}: training has diverged; "
        f"lower training.learning_rate ({training.learning_rate}), raise training.warmup "
        f"({training.warmup}), or set training.gradient_clip ({training.gradient_clip}) to 1"
    )


def _count(
    session: Session, state: TrainingState, batch: Batch, losses: Loss, seconds: float
) -> None:
    targets, sources = int(batch.mask.sum()), int(batch.source_mask.sum())
    loss, plain = losses.loss.item(), losses.negative_log_likelihood.item()
    state.step += 1
    state.target_tokens += targets
    state.source_tokens += sources
    state.training_seconds += seconds
    window = state.window
    window.loss += loss * targets
    window.negative_log_likelihood += plain * targets
    window.tokens += targets
    window.real += targets + sources
    window.positions += batch.mask.numel() + batch.source_mask.numel()
    session.recent.add(targets, loss, plain, seconds)


def _log(session: Session, state: TrainingState) -> None:
    """A line of metrics.jsonl, every now and then, about the updates since the last one."""
    if state.step % LOG_INTERVAL:
        return
    window = state.window
    session.log.write(
        "training",
        step=state.step,
        epoch=state.epoch + 1,
        loss=window.loss / window.tokens,
        perplexity=perplexity(window.negative_log_likelihood / window.tokens),
        learning_rate=session.optimizer.rate,
        target_tokens=state.target_tokens,
        source_tokens=state.source_tokens,
        seconds=state.training_seconds,
        padding=window.padding,
    )
    state.window = Window()


def _glance(session: Session, state: TrainingState, batches: int) -> Glance:
    """What a person is shown: the nearest of the ends that can be foreseen is what is left."""
    training, recent = session.configuration.training, session.recent
    ends: list[tuple[float, float]] = []  # seconds left, share done
    if session.budget.seconds is not None:
        left = session.budget.left(_validations_to_come(session, state)) or 0.0
        ends.append((left, 1 - left / session.budget.seconds))
    updates = [training.maximum_updates, training.maximum_epochs * batches]
    for limit in (limit for limit in updates if limit):
        ends.append(((limit - state.step) * recent.seconds_per_update, state.step / limit))
    seconds_left, share = min(ends, default=(None, None))
    return Glance(
        step=state.step,
        epoch=state.epoch + 1,
        loss=recent.loss,
        perplexity=recent.perplexity,
        tokens_per_second=recent.tokens_per_second,
        share=share,
        seconds_left=seconds_left,
        validation=session.validation,
    )
