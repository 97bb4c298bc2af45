"""Schedules: the learning rate of an update, a pure function of its number."""

from regard.training.configuration import TrainingConfiguration


def learning_rate(
    step: int, configuration: TrainingConfiguration, done: float = 0.0, *, size: int = 1
) -> float:
    """The rate of update `step`, counted from 1, when the share `done` of the run is over.

    It rises by equal steps and reaches `learning_rate` at update `warmup`. From there
    `inverse_square_root` multiplies it by sqrt(warmup / step) (Vaswani et al. 2017, section 5.3,
    with the peak given instead of the model's size; no warm-up counts as one update), `linear` goes
    straight down to 0 at `maximum_updates`, and `constant` stays. `noam` is the paper's own: its
    peak is ``learning_rate / sqrt(size * warmup)``, size that of the model's states, so that
    `learning_rate` is a factor, 1 in the paper. In the last share `cooldown` of
    the run all of this is multiplied by what is left of that share.
    """
    rate = _before_cooldown(step, configuration, size)
    if done <= 1 - configuration.cooldown:
        return rate
    return rate * max(0.0, 1 - done) / configuration.cooldown


def _before_cooldown(step: int, configuration: TrainingConfiguration, size: int) -> float:
    peak, warmup = configuration.learning_rate, configuration.warmup
    if configuration.schedule == "noam":
        peak *= (size * max(warmup, 1)) ** -0.5
    if step < warmup:
        return peak * step / warmup
    if configuration.schedule in ("inverse_square_root", "noam"):
        return peak * (max(warmup, 1) / step) ** 0.5
    if configuration.schedule == "linear":
        left = configuration.maximum_updates - step
        return peak * max(0.0, left / (configuration.maximum_updates - warmup))
    return peak
