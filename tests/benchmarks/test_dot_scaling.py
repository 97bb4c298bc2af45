"""The measurement of scaling and of projections, at a size that takes seconds."""

import json
import math
from pathlib import Path

import pytest
import torch

import dot_scaling
from form_tagger import FormTagger, Way, grade, run, train_tagger
from score_spread import even_gradient, measure_spread
from tables import table
from word_forms import PADDING, make_task


def test_tables_are_aligned() -> None:
    lines = table(["size", "n"], [["a", "1"], ["b", "20"]]).split("\n")
    assert lines == ["| size |  n |", "|------|---:|", "| a    |  1 |", "| b    | 20 |"]


def test_scores_spread_with_the_root_of_the_size_unless_scaled() -> None:
    for size in (16, 64):
        plain, scaled = (measure_spread(size, way, 512, 8, seed=1) for way in (False, True))
        assert plain.deviation == pytest.approx(math.sqrt(size), rel=0.1)
        assert scaled.deviation == pytest.approx(1.0, rel=0.1)
        assert plain.entropy < scaled.entropy < math.log(8)
        assert plain.largest > scaled.largest > 1 / 8


def test_gradient_is_that_of_the_softmax_by_hand() -> None:
    found = even_gradient(positions=5, queries=7, seed=3)
    arriving = torch.randn(7, 5, generator=torch.Generator().manual_seed(3))
    by_hand = (arriving - arriving.mean(1, keepdim=True)) / 5  # diag(a) - a a^T with a = 1/5
    assert found == pytest.approx(by_hand.norm(dim=1).mean().item(), rel=1e-4)


def test_measured_over_chunks_is_measured_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("score_spread._CHUNK", 8 * 4 * 16)
    found = measure_spread(16, True, 1000, 4, seed=1)
    assert found.deviation == pytest.approx(1.0, rel=0.1)


def test_forms_are_those_of_the_sentence() -> None:
    task = make_task(40, 10, seed=1)
    words, forms = task.train.words, task.train.forms
    assert (len(words), len(task.test.words)) == (40, 10)
    assert task.train.mask.equal(words != PADDING)
    open_words = {task.vocabulary[i - 1] for i in words[task.train.open].tolist()}
    assert {"a", "the", "large"} <= open_words
    assert "circle" not in open_words  # always "kreis"
    answers = {task.answers[i - 1] for i in forms[forms != PADDING].tolist()}
    assert {"kreis", "großen", "dem"} <= answers


def test_a_tagger_learns_and_the_seed_decides() -> None:
    task = make_task(60, 20, seed=1)
    way = Way("scaled_dot", ("key", "value"))
    (first, again), (other,) = (run(task, [way], 8, 25, seeds)[way] for seeds in ((1, 1), (2,)))
    assert first == again
    assert other.perplexity != first.perplexity
    torch.manual_seed(1)
    untrained = grade(FormTagger(task, 8, way), task.test, 1)
    assert first.perplexity < 0.8 * untrained.perplexity
    assert 0 < first.on_itself < 1


def test_ways_differ_in_what_is_projected() -> None:
    task = make_task(20, 5, seed=1)
    counts = {}
    for project in ((), ("key",), ("key", "value")):
        tagger = train_tagger(task, Way("dot", project), 8, 1, 1)
        counts[project] = sum(parameter.numel() for parameter in tagger.parameters())
    assert counts["key",] - counts[()] == 8 * 8 + 8
    assert counts["key", "value"] - counts["key",] == 8 * 8 + 8


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "measured.json"
    small = ["--sizes", "4,16", "--queries", "64", "--positions", "4", "--seeds", "1"]
    small += ["--sentences", "16", "--updates", "2", "--size", "4", "--json", str(path)]
    assert dot_scaling.main(small) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n| ") == 3 + 1 + len(dot_scaling.WAYS) - 1
    measured = json.loads(path.read_text(encoding="utf-8"))
    assert [spread["size"] for spread in measured["spreads"]] == [4, 4, 16, 16]
    assert len(measured["outcomes"]) == len(dot_scaling.WAYS)
    assert measured["settings"]["updates"] == 2
