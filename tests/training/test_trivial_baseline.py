"""What a model must do better than, and what no model of these symbols can do."""

from pathlib import Path
from typing import Any

import pytest

from regard.data.batches import encode_pairs
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import train_tokenizers
from regard.evaluation.score import Score
from regard.training import session
from regard.training.baseline import measure_baseline
from regard.training.coverage import Coverage, measure_coverage
from regard.training.metrics import read_metrics
from regard.training.progress import Silence
from regard.training.train import train
from regard.training.validation import Validation, prepare_validation

from .tiny import reversals, tiny


def pairs(*rows: tuple[str, ...]) -> Pairs:
    return Pairs(tuple(Pair(*row) for row in rows), "here", 0)


TRAIN = pairs(("a b", "b a"), ("a b", "x"), ("a b", "x"), ("c", "c"))
VALID = pairs(("a b", "x"), ("b b", "b b"), ("b b", "y"), ("☃", "x"), ("ł c", "ż"), ("b", "a"))
TOKENIZERS = train_tokenizers(tiny().tokenization, TRAIN, 1)


def test_memorized_copied_and_wrong() -> None:
    validation = prepare_validation(VALID, TOKENIZERS, tiny())
    baseline = measure_baseline(TRAIN, validation, "word_error_rate", "space")
    assert (baseline.score, baseline.seen) == (60, 1)
    symbols = measure_baseline(TRAIN, validation, "symbol_error_rate", "space")
    assert symbols.score == pytest.approx(100 * (0 + 0 + 1 + 2 + 1) / (1 + 2 + 1 + 1 + 1))
    some = prepare_validation(VALID, TOKENIZERS, tiny(validation_limit=2))
    assert measure_baseline(TRAIN, some, "exact_match", "space").score == 50


def test_features_are_part_of_what_is_remembered() -> None:
    seen = pairs(("go", "went", "PST"), ("go", "goes", "3SG"))
    asked = pairs(("go", "goes", "3SG"), ("go", "going", "V.PTCP"), ("go", "went", "PST"))
    tokenization = {"joint": True, "source": {"kind": "space"}, "target": {"kind": "space"}}
    configuration = tiny()
    settings = type(configuration.tokenization).model_validate(tokenization | {"features": {}})
    validation = prepare_validation(asked, train_tokenizers(settings, seen, 1), configuration)
    baseline = measure_baseline(seen, validation, "exact_match", "space")
    assert (baseline.score, baseline.seen) == (pytest.approx(200 / 3), 2)


def test_coverage() -> None:
    coverage = prepare_validation(VALID, TOKENIZERS, tiny()).coverage
    assert coverage == Coverage(5, 2, ("☃", "ł"), 1, ("ż",))
    unseen, unreachable = coverage.messages()
    assert unseen.startswith("2 of 5 validation sources have symbols never seen")
    assert unseen.endswith(": ☃, ł")
    assert unreachable.startswith("1 of 5 validation sources cannot be answered right")
    assert unreachable.endswith(": ż")
    covered = prepare_validation(TRAIN, TOKENIZERS, tiny()).coverage
    assert (covered.unseen, covered.unreachable, covered.messages()) == (0, 0, [])


def test_coverage_of_every_pair() -> None:
    twice = pairs(("☃", "a"), ("☃", "ż"), ("a", "a"))
    examples = encode_pairs(twice, TOKENIZERS)
    assert measure_coverage(twice, examples, TOKENIZERS) == Coverage(2, 1, ("☃",), 0, ())
    each = measure_coverage(twice, examples, TOKENIZERS, every_pair=True)
    assert each == Coverage(3, 2, ("☃",), 1, ("ż",))


def test_a_target_that_can_be_written_is_enough() -> None:
    either = pairs(("a", "☃"), ("a", "b"))
    assert prepare_validation(either, TOKENIZERS, tiny()).coverage.unreachable == 0


class Told(Silence):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)


def trained(out: Path, score: float, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Told:
    """What is said by a run whose validation gives this exact match."""

    def given(*_: object) -> Validation:
        return Validation(Score("exact_match", score, None, "higher"), 2.0, 0.01)

    monkeypatch.setattr(session, "validate", given)
    told = Told()
    configuration = tiny(maximum_updates=2, validation_interval=2, average={"kind": "none"})
    result = train(configuration, reversals(20), VALID_COPIES, out, progress=told, **options)
    assert result.baseline == pytest.approx(200 / 3)
    assert result.beats_baseline == (score > result.baseline)
    return told


#: Two of the three are copies.
VALID_COPIES = pairs(("a", "a"), ("b b", "b b"), ("a b c", "c b a"))


@pytest.mark.parametrize(("score", "better"), [(0.0, False), (200 / 3, False), (80.0, True)])
def test_train_says_when_a_model_is_no_better(
    score: float, better: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = trained(tmp_path / "run", score, monkeypatch)
    assert any("copying or memorizing alone: exact_match 66.67" in each for each in told.messages)
    complaints = [each for each in told.messages if "no better than copying" in each]
    assert len(complaints) == (not better)
    start = next(iter(read_metrics(tmp_path / "run" / "metrics.jsonl")))
    assert start["baseline"] == pytest.approx(200 / 3)
    assert (start["validation_seen"], start["validation_unreachable"]) == (0, 0)


def test_nothing_is_better_than_perfect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def perfect(*_: object) -> Validation:
        return Validation(Score("exact_match", 100.0, None, "higher"), 2.0, 0.01)

    monkeypatch.setattr(session, "validate", perfect)
    told = Told()
    configuration = tiny(maximum_updates=2, validation_interval=2, average={"kind": "none"})
    data = reversals(20)
    result = train(configuration, data, data, tmp_path / "run", progress=told)
    assert (result.baseline, result.beats_baseline) == (100, True)
    assert any("20 of them in the training data too" in each for each in told.messages)
