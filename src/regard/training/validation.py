"""Validation: free decoding of the validation texts, and the perplexity of their targets."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from regard.data.batches import Example, bucket, collate, encode_pairs
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import Tokenizers
from regard.evaluation import Score, measure, symbols_of
from regard.evaluation.answering import answer_pairs
from regard.models import Model
from regard.training.configuration import Configuration
from regard.training.coverage import Coverage, measure_coverage
from regard.training.metrics import perplexity
from regard.training.objective import batch_loss

#: Sources decoded between two looks at whether training should stop.
PORTION = 256

#: Told how many sources are decoded, of how many; may raise to give up.
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class ValidationData:
    """Distinct sources, the accepted targets of each, and their pairs as examples in batches.

    asked: a pair of each source; where pairs have features, one with each of its features.
    coverage: what of them the symbols of the training data can express.
    """

    asked: Pairs
    references: list[list[str]]
    examples: list[Example]
    batches: list[list[int]]
    coverage: Coverage


@dataclass(frozen=True)
class Validation:
    """How good a model is: the metric, the perplexity, and the seconds it took to find out."""

    score: Score
    perplexity: float
    seconds: float


def prepare_validation(
    pairs: Pairs, tokenizers: Tokenizers, configuration: Configuration
) -> ValidationData:
    """Choose and encode what is validated on; nothing is left out for its length."""
    asked, (_, references) = pairs.questions(), pairs.references()
    chosen = spread_evenly(len(asked), configuration.training.validation_limit)
    kept = {(asked[index].source, asked[index].features) for index in chosen}
    some: list[Pair] = [pair for pair in pairs if (pair.source, pair.features) in kept]
    examples = encode_pairs(some, tokenizers, opened=configuration.model.copies)
    return ValidationData(
        Pairs(tuple(asked[index] for index in chosen), pairs.origin),
        [references[index] for index in chosen],
        examples,
        bucket(examples, configuration.batching, seed=0, epoch=0),
        measure_coverage(some, examples, tokenizers),
    )


def spread_evenly(count: int, limit: int) -> list[int]:
    """At most `limit` of the indices below `count`, at even distances; 0 = all."""
    if limit == 0 or limit >= count:
        return list(range(count))
    return [index * count // limit for index in range(limit)]


def validate(
    model: Model,
    tokenizers: Tokenizers,
    data: ValidationData,
    configuration: Configuration,
    on_progress: OnProgress,
) -> Validation:
    """Decode all sources, score them, and compute the perplexity of their targets.

    The model is left in evaluation mode, and the global random state as it was.
    """
    started = time.perf_counter()
    model.eval()
    with torch.random.fork_rng(devices=[]):
        hypotheses = _decode(model, tokenizers, data, configuration, on_progress)
        plain = mean_negative_log_likelihood(model, data.examples, data.batches)
    training = configuration.training
    symbols = symbols_of(tokenizers.target.kind)
    score = measure(training.metric, hypotheses, data.references, symbols)
    return Validation(score, perplexity(plain), time.perf_counter() - started)


@torch.no_grad()
def mean_negative_log_likelihood(
    model: Model, examples: Sequence[Example], batches: Sequence[Sequence[int]]
) -> float:
    """Of each real target token, END included, in nats; the model as it is set."""
    total, tokens = 0.0, 0
    for indices in batches:
        batch = collate(examples, indices)
        count = int(batch.mask.sum())
        total += float(batch_loss(model, batch).negative_log_likelihood) * count
        tokens += count
    return total / tokens


def _decode(
    model: Model,
    tokenizers: Tokenizers,
    data: ValidationData,
    configuration: Configuration,
    on_progress: OnProgress,
) -> list[str]:
    """The answer to every source, in their order; decoded by length, a portion at a time."""
    asked = data.asked
    order = sorted(range(len(asked)), key=lambda index: (len(asked[index].source), index))
    answers = [""] * len(asked)
    for start in range(0, len(order), PORTION):
        on_progress(start, len(order))
        portion = order[start : start + PORTION]
        found = answer_pairs(
            model,
            tokenizers,
            [asked[index] for index in portion],
            configuration.search,
            beam=configuration.training.validation_beam,
        )
        for index, answer in zip(portion, found, strict=True):
            answers[index] = answer.text
    on_progress(len(order), len(order))
    return answers
