import json

import pytest

from regard.errors import UserError
from regard.evaluation import METRICS, character_symbols, evaluate_texts

OUTPUTS = ["a b c d", "x y"]
REFERENCES = [["a b c d"], ["x z", "y z"]]


def test_every_metric_in_the_order_asked_for():
    assert METRICS == (
        "bleu",
        "chrf",
        "ter",
        "word_error_rate",
        "symbol_error_rate",
        "exact_match",
    )
    evaluation = evaluate_texts(OUTPUTS, REFERENCES)
    assert [score.name for score in evaluation.scores] == list(METRICS)
    assert (evaluation.sources, evaluation.references) == (2, 3)
    some = evaluate_texts(OUTPUTS, REFERENCES, names=["exact_match", "bleu"])
    assert [score.name for score in some.scores] == ["exact_match", "bleu"]
    assert some.metric("exact_match").value == 50
    assert some.metric("exact_match").better == "higher"
    assert "tok:13a" in some.metric("bleu").signature


def test_each_name_is_its_own_metric():
    perfect = evaluate_texts(["a b c d"], [["a b c d"]])
    for score in perfect.scores:
        assert score.value == pytest.approx(100 if score.better == "higher" else 0), score.name
    wrong = evaluate_texts(["q"], [["a b c d"]])
    for score in wrong.scores:
        assert score.value == pytest.approx(0 if score.better == "higher" else 100), score.name


def test_symbols_and_intervals_reach_the_metrics():
    evaluation = evaluate_texts(["ab"], [["abcd"]], symbols=character_symbols, resamples=20)
    assert evaluation.metric("symbol_error_rate").value == 50
    assert evaluation.metric("symbol_error_rate").interval.high == 50
    assert all(score.interval is not None for score in evaluation.scores)
    without = evaluate_texts(["ab"], [["abcd"]])
    assert all(score.interval is None for score in without.scores)


def test_intervals_change_no_figure():
    outputs, references = ["a b c d", "x y", "a"] * 5, [["a b c d"], ["x z", "y z"], ["a b"]] * 5
    plain = evaluate_texts(outputs, references)
    sure = evaluate_texts(outputs, references, resamples=200)
    for one, other in zip(plain.scores, sure.scores, strict=True):
        assert (one.name, one.value, one.signature) == (other.name, other.value, other.signature)
        assert other.interval.low < other.value < other.interval.high, other
    wrong, right = sure.metric("word_error_rate"), sure.metric("exact_match")
    assert right.interval.low == pytest.approx(100 - wrong.interval.high)
    assert right.interval.high == pytest.approx(100 - wrong.interval.low)


def test_the_interval_of_bleu_is_sacrebleus():
    """Its bootstrap gives half the width; ours are percentiles of other draws."""
    from sacrebleu.metrics import BLEU

    words = [f"w{number}" for number in range(60)]
    references = [words[i : i + 9] for i in range(50)]
    outputs = [" ".join(w for w in each if int(w[1:]) * i % 5) for i, each in enumerate(references)]
    texts = [" ".join(each) for each in references]
    metric = BLEU(force=True)
    theirs = metric.corpus_score(outputs, [texts], n_bootstrap=2000)
    (score,) = evaluate_texts(outputs, [[t] for t in texts], names=["bleu"], resamples=2000).scores
    assert score.value == theirs.score
    half = (score.interval.high - score.interval.low) / 2
    assert half == pytest.approx(theirs._ci, rel=0.15)


def test_as_json():
    evaluation = evaluate_texts(OUTPUTS, REFERENCES, names=["word_error_rate", "chrf"], resamples=9)
    data = json.loads(json.dumps(evaluation.as_dict()))
    assert data["sources"] == 2
    assert data["references"] == 3
    assert list(data["metrics"]) == ["word_error_rate", "chrf"]
    assert data["metrics"]["word_error_rate"]["value"] == 50
    assert data["metrics"]["word_error_rate"]["better"] == "lower"
    assert set(data["metrics"]["word_error_rate"]["interval"]) == {"low", "high", "level"}
    assert "nrefs:var" in data["metrics"]["chrf"]["signature"]


def test_unknown_names_are_told_the_nearest():
    with pytest.raises(UserError, match="did you mean word_error_rate"):
        evaluate_texts(OUTPUTS, REFERENCES, names=["word_eror_rate"])
    evaluation = evaluate_texts(OUTPUTS, REFERENCES, names=["bleu"])
    with pytest.raises(UserError, match="no metric 'meteor' here: choose from bleu"):
        evaluation.metric("meteor")


def test_bad_input_is_refused_even_when_no_metric_is_asked_for():
    with pytest.raises(UserError, match="1 outputs for 2 sources"):
        evaluate_texts(["a"], REFERENCES, names=[])
