"""The random state of subword sampling, apart from every other one."""

import random

_generator = random.Random(0)


def seed_sampling(seed: int) -> None:
    """From here on, `sample` and `sample_all` of all tokenizers follow `seed`, on any machine.

    Not for use from several threads at once: they would share the sequence.
    """
    _generator.seed(seed)


def next_seed() -> int:
    """A new seed for one call of sentencepiece, whose own generator cannot be read or kept."""
    return _generator.getrandbits(31)
