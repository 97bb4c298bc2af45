"""The trivial baseline on the validation data: what a model must do better than."""

from dataclasses import dataclass

from regard.data.pairs import Pairs
from regard.evaluation import CopyOrMemorize, evaluate_texts, symbols_of
from regard.training.validation import ValidationData


@dataclass(frozen=True)
class Baseline:
    """What copying and memorizing alone reaches on the validation data.

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
    tags = validation.features or [""] * len(validation.sources)
    asked = list(zip(validation.sources, tags, strict=True))
    answers = baseline.answer(asked, validation.sources)
    evaluation = evaluate_texts(
        answers, validation.references, names=(metric,), symbols=symbols_of(kind)
    )
    return Baseline(evaluation.metric(metric).value, sum(map(baseline.has_seen, asked)))
