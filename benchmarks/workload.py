"""The model and the batches that every tool is asked for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """The size of regard's recipe `transformer-tiny`; the rates matter to no figure."""

    layers: int = 4
    width: int = 128
    feed_forward: int = 256
    heads: int = 4
    dropout: float = 0.1
    attention_dropout: float = 0.0
    label_smoothing: float = 0.1
    vocabulary: int = 8000
    batch_tokens: int = 4096
    learning_rate: float = 0.001
    warm_up_steps: int = 1000
    seed: int = 1
