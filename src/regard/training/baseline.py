"""The trivial baseline on the validation data: what a model must do better than."""

from collections import Counter
from dataclasses import dataclass

from regard.data.pairs import Pairs
from regard.evaluation import CopyOrMemorize, measure, symbols_of
from regard.training.validation import ValidationData


@dataclass(frozen=True)
class Baseline:
    """What memorizing alone reaches on the validation data, with copying of what is not known.

    A picture cannot be copied: in its place stands the most frequent training target.
    score: by the metric that chooses the model.
    seen: how many validation sources are in the training data too.
    """

    score: float
    seen: int


def measure_baseline(train: Pairs, validation: ValidationData, metric: str, kind: str) -> Baseline:
    """Remember the training pairs and answer the validation sources.

    kind: of the target's tokenizer, which says what a symbol is.
    """
    baseline = CopyOrMemorize.train(train.identities(), train.targets())
    asked = validation.asked.identities()
    copied = validation.asked.sources()
    if train.have_pictures:
        copied = [Counter(train.targets()).most_common(1)[0][0]] * len(asked)
    answers = baseline.answer(asked, copied)
    score = measure(metric, answers, validation.references, symbols_of(kind))
    return Baseline(score.value, sum(map(baseline.has_seen, asked)))
