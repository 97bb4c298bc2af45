import json

import pytest

from regard.evaluation import CopyOrMemorize, evaluate_split, evaluate_texts


def test_memorize_else_copy():
    sources = ["a", "b", "a", "a", "b"]
    baseline = CopyOrMemorize.train(sources, ["x", "p", "y", "y", "q"])
    asked = ["a", "b", "c"]
    assert baseline.answer(asked, asked) == ["y", "p", "c"]  # of equals the first
    assert [baseline.has_seen(each) for each in asked] == [True, True, False]


def test_a_source_is_what_it_is_together_with_its_features():
    sources = [("go", "PST"), ("go", "3SG")]
    baseline = CopyOrMemorize.train(sources, ["went", "goes"])
    asked = [("go", "3SG"), ("go", "INF")]
    assert baseline.answer(asked, [source for source, _ in asked]) == ["goes", "go"]


def test_the_parts_of_a_split():
    outputs, references = ["a", "b", "c", "d"], [["a"], ["x"], ["c", "y"], ["z"]]
    seen = [True, True, True, False]
    split = evaluate_split(outputs, references, seen, resamples=20)
    assert split.all == evaluate_texts(outputs, references, resamples=20)
    assert split.seen == evaluate_texts(outputs[:3], references[:3], resamples=20)
    assert split.unseen == evaluate_texts(outputs[3:], references[3:], resamples=20)
    data = json.loads(json.dumps(split.as_dict()))
    assert data["sources"] == 4
    assert data["seen"]["metrics"]["word_error_rate"]["value"] == pytest.approx(100 / 3)
    assert data["unseen"]["metrics"]["word_error_rate"]["value"] == 100


def test_a_part_without_sources():
    split = evaluate_split(["a", "b"], [["a"], ["x"]], [False, False])
    assert split.unseen == split.all
    assert (split.seen.sources, split.seen.scores) == (0, ())
    assert split.as_dict()["seen"] == {"sources": 0, "references": 0, "metrics": {}}
    other = evaluate_split(["a", "b"], [["a"], ["x"]], [True, True])
    assert (other.seen, other.unseen.sources) == (other.all, 0)


def test_whether_seen_must_be_known_of_each():
    with pytest.raises(ValueError, match="seen tells of 1"):
        evaluate_split(["a", "b"], [["a"], ["x"]], [True])
