"""Validation: what is decoded, what is counted."""

import math
from itertools import chain

import pytest
import torch

from regard.data.batches import bucket, encode_pairs
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import train_tokenizers
from regard.models import build_model
from regard.training import validation as module
from regard.training.validation import (
    mean_negative_log_likelihood,
    prepare_validation,
    spread_evenly,
    validate,
)

from .tiny import reversals, tiny

TOKENIZERS = train_tokenizers(tiny().tokenization, reversals(40), 1)


@pytest.mark.parametrize(
    ("count", "limit", "expected"),
    [
        (4, 0, [0, 1, 2, 3]),
        (4, 9, [0, 1, 2, 3]),
        (10, 3, [0, 3, 6]),
        (10, 1, [0]),
        (5, 4, [0, 1, 2, 3]),
    ],
)
def test_spread_evenly(count: int, limit: int, expected: list[int]) -> None:
    assert spread_evenly(count, limit) == expected


def test_sources_with_several_targets_are_one_source() -> None:
    pairs = Pairs((Pair("a", "x"), Pair("b", "y"), Pair("a", "z"), Pair("c", "x")), "here", 0)
    data = prepare_validation(pairs, TOKENIZERS, tiny())
    assert data.asked.sources() == ["a", "b", "c"]
    assert data.references == [["x", "z"], ["y"], ["x"]]
    assert len(data.examples) == 4 and sorted(chain.from_iterable(data.batches)) == [0, 1, 2, 3]
    limited = prepare_validation(pairs, TOKENIZERS, tiny(validation_limit=1))
    assert limited.asked.sources() == ["a"] and len(limited.examples) == 2


def test_a_pair_longer_than_any_batch_is_validated_too() -> None:
    long = Pairs((Pair(" ".join("abcd" * 100), "a b"), Pair("a", "b")), "here", 0)
    data = prepare_validation(long, TOKENIZERS, tiny())
    assert sorted(chain.from_iterable(data.batches)) == [0, 1]


@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_perplexity_is_that_of_forward_whatever_the_batches(kind: str) -> None:
    torch.manual_seed(0)
    model = build_model(tiny(kind).model, TOKENIZERS.source.size, TOKENIZERS.target.size).eval()
    examples = encode_pairs(reversals(20), TOKENIZERS)
    configuration = tiny(kind)
    found = mean_negative_log_likelihood(
        model, examples, bucket(examples, configuration.batching, 0, 0)
    )
    one_by_one = mean_negative_log_likelihood(model, examples, [[n] for n in range(20)])
    total, tokens = 0.0, 0
    for example in examples:
        source, target = torch.tensor([example.source]), torch.tensor(example.target)
        inputs = torch.tensor([[2, *example.target[:-1]]])
        with torch.no_grad():
            decoded = model(source, torch.ones_like(source, dtype=torch.bool), inputs)
        total -= decoded.log_probabilities[0].gather(1, target[:, None]).sum().item()
        tokens += len(target)
    assert found == pytest.approx(total / tokens, rel=1e-5)
    assert one_by_one == pytest.approx(total / tokens, rel=1e-5)


def test_validating_scores_free_decoding_and_draws_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PORTION", 3)
    torch.manual_seed(0)
    configuration = tiny()
    model = build_model(configuration.model, TOKENIZERS.source.size, TOKENIZERS.target.size)
    pairs = reversals(8, seed=6)
    data = prepare_validation(pairs, TOKENIZERS, configuration)
    before, calls = torch.get_rng_state(), []
    found = validate(
        model, TOKENIZERS, data, configuration, lambda done, total: calls.append((done, total))
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert calls == [(0, 8), (3, 8), (6, 8), (8, 8)]
    assert found.score.name == "exact_match" and 0 <= found.score.value <= 100
    assert math.isfinite(found.perplexity) and found.perplexity > 1 and found.seconds > 0


def test_answers_are_scored_beside_their_own_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder that is always right, in portions sorted by length, gets everything right."""

    class Answer:
        def __init__(self, text: str) -> None:
            self.text = text

    def reverse(model: object, tokenizers: object, pairs: list[Pair], *_: object, **__: object):
        return [Answer(" ".join(reversed(pair.source.split()))) for pair in pairs]

    monkeypatch.setattr(module, "answer_pairs", reverse)
    monkeypatch.setattr(module, "PORTION", 3)
    configuration = tiny()
    model = build_model(configuration.model, TOKENIZERS.source.size, TOKENIZERS.target.size)
    data = prepare_validation(reversals(20, seed=6), TOKENIZERS, configuration)
    found = validate(model, TOKENIZERS, data, configuration, lambda done, total: None)
    assert found.score.value == 100
