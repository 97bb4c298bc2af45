"""The model and the batches that both trainers of transduction are asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.data.batches import bucket, encode_pairs
from regard.data.configuration import BatchingConfiguration
from regard.data.pairs import Pairs
from regard.data.tokenizers import train_tokenizers
from regard.errors import UserError
from regard.training.recipes import load_recipe

#: What regard trains: a recipe, and what of it is set to the size below. `{}` are fields of Size.
RECIPE = "lstm-attention"
OVERRIDES = (
    "model.embedding.size={embedding}",
    "model.embedding.dropout={dropout}",
    "model.embedding.dropout_by={dropout_by}",
    "model.encoder.size={hidden}",
    "model.encoder.dropout={dropout}",
    "model.decoder.size={hidden}",
    "model.decoder.readout_size={readout}",
    "model.decoder.dropout={dropout}",
    "training.learning_rate={learning_rate}",
    "training.gradient_clip={gradient_clip}",
    "training.average.kind=none",
    "training.maximum_updates=1000000",  # the benchmark ends it
)
_NEVER = 1_000_000  # steps, or seconds


@dataclass(frozen=True)
class Size:
    """One layer each way and one back: an encoder-decoder of LSTMs with attention.

    readout: of what regard reads out of state and context, where yoyodyne reads the state: chosen
        so that both have about as many parameters.
    dropout_by: how regard drops of embeddings.
    words: in a batch, on average where a trainer counts tokens instead.
    """

    embedding: int = 300
    hidden: int = 100
    readout: int = 150
    dropout: float = 0.3
    dropout_by: str = "symbol"
    words: int = 32
    learning_rate: float = 0.001
    gradient_clip: float = 3.0
    seed: int = 1


def overrides(size: Size) -> list[str]:
    """RECIPE's settings at this size; it neither validates nor saves while it is measured."""
    chosen = [setting.format(**vars(size)) for setting in OVERRIDES]
    intervals = ("validation_interval", "checkpoint_interval_seconds")
    return [*chosen, *(f"training.{interval}={_NEVER}" for interval in intervals)]


def batch_tokens(pairs: Pairs, size: Size, settings: Sequence[str]) -> int:
    """The `batching.tokens` at which regard's batches hold `size.words` words on average.

    The smallest at which they hold at least so many. Raises UserError when the data hold fewer.
    """
    if len(pairs) < size.words:
        raise UserError(f"{pairs.origin}: {len(pairs)} pairs are less than a batch of {size.words}")
    tokenization = load_recipe(RECIPE, settings).tokenization
    examples = encode_pairs(pairs, train_tokenizers(tokenization, pairs, size.seed))

    def batches(tokens: int) -> int:
        return len(bucket(examples, BatchingConfiguration(tokens=tokens), size.seed, 0))

    low, high = 1, size.words * max(max(len(e.source), len(e.target)) for e in examples)
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if len(pairs) >= size.words * batches(middle) else (middle + 1, high)
        )
    return low
