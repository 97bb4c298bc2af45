"""Schedules: the learning rate of an update, a pure function of its number."""

from regard.training.configuration import TrainingConfiguration


def learning_rate(step: int, configuration: TrainingConfiguration, done: float = 0.0) -> float:
    """The rate of update `step`, counted from 1, when the share `done` of the run is over.

    It rises by equal steps and reaches `learning_rate` at update `warmup`. From there
    `inverse_square_root` multiplies it by sqrt(warmup / step) (Vaswani et al. 2017, section 5.3,
    with the peak given instead of the model's size; no warm-up counts as one update), `linear` goes
    straight down to 0 at `maximum_updates`, and `constant` stays. In the last share `cooldown` of
    the run all of this is multiplied by what is left of that share.
    """
    rate = _before_cooldown(step, configuration)
    if done <= 1 - configuration.cooldown:
        return rate
    return rate * max(0.0, 1 - done) / configuration.cooldown


def _before_cooldown(step: int, configuration: TrainingConfiguration) -> float:
    peak, warmup = configuration.learning_rate, configuration.warmup
    if step < warmup:
        return peak * step / warmup
    if configuration.schedule == "inverse_square_root":
        return peak * (max(warmup, 1) / step) ** 0.5
    if configuration.schedule == "linear":
        left = configuration.maximum_updates - step
        return peak * max(0.0, left / (configuration.maximum_updates - warmup))
    return peak
