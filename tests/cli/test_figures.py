"""The tables and the JSON of an evaluation."""

import json

from regard.cli.figures import Beside, Figures, confusions_table, metrics_table
from regard.evaluation import evaluate_split, evaluate_texts, find_confusions
from regard.training.coverage import Coverage

SOURCES = ["gatto", "tè"]
OUTPUTS = ["k a t o", "t ɛ"]
REFERENCES = [["g a t t o"], ["t ɛ"]]
NAMES = ("word_error_rate", "symbol_error_rate")


def figures(resamples=0, beside=True, most=9, unreachable=0):
    options = {"names": NAMES, "resamples": resamples}
    evaluation = evaluate_texts(OUTPUTS, REFERENCES, **options)
    model = evaluate_split(OUTPUTS, REFERENCES, [True, True], **options)
    baseline = evaluate_split(SOURCES, REFERENCES, [True, True], **options)
    return Figures(
        SOURCES,
        evaluation,
        Coverage(2, 0, (), unreachable, ("ɛ",)),
        Beside(model, baseline) if beside else None,
        find_confusions(OUTPUTS, REFERENCES, most=most) if most else None,
    )


def test_metrics_without_and_with_intervals():
    lines = metrics_table(figures().evaluation)
    assert lines[0].split() == ["metric", "%", "better", "signature"]
    assert lines[2].split() == ["word_error_rate", "50.00", "lower"]
    assert lines[-1] == "2 sources, 2 accepted targets"
    lines = metrics_table(figures(resamples=50).evaluation)
    assert lines[2].split()[1:] == ["50.00", "0.00", "to", "100.00", "lower"]


def test_all_tables():
    shown = "\n".join(figures(unreachable=1).tables())
    assert "1 of 2 sources cannot be answered right" in shown and shown.count("ɛ") == 1
    rows = [line.split("  ") for line in shown.split("\n")]
    rows = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert ["seen", "2", "model", "50.00", "28.57"] in rows
    assert ["unseen", "0", "model"] in rows
    assert ["all", "2", "copy or memorize", "100.00", "100.00"] in rows
    assert "2 edits: 1 substitution, 1 deletion, 0 insertions" in shown
    assert ["substitution", "g", "k", "1", "50.00", "gatto", "g a t t o", "k a t o"] in rows
    assert ["deletion", "t", "1", "50.00", "gatto", "g a t t o", "k a t o"] in rows


def test_only_what_was_asked_for():
    shown = figures(beside=False, most=None).tables()
    assert shown == metrics_table(figures().evaluation)
    (line,) = figures(beside=False, most=None).json()
    assert json.loads(line).keys() == {"sources", "references", "metrics", "unreachable"}


def test_confusions_are_cut_and_what_is_invisible_is_shown():
    confusions = find_confusions(["a \u0301 d"], [["a b c"]], most=1)
    head, _, *table = confusions_table(confusions, ["\u200e"])
    edits = "2 edits: 2 substitutions, 0 deletions, 0 insertions"
    assert head == f"{edits}; the 1 most frequent of 2 kinds"
    assert table[-1].split()[:3] == ["substitution", "b", "◌\u0301"]
    assert "‹U+200E›" in table[-1]
    assert confusions_table(find_confusions(["a"], [["a"]], most=3), ["x"]) == [
        "0 edits: 0 substitutions, 0 deletions, 0 insertions"
    ]


def test_json():
    (line,) = figures(resamples=50, unreachable=1).json()
    data = json.loads(line)
    assert data["metrics"]["word_error_rate"]["value"] == 50
    assert data["metrics"]["word_error_rate"]["interval"]["level"] == 0.95
    assert data["unreachable"] == 1
    assert data["seen"]["sources"] == 2 and data["unseen"]["metrics"] == {}
    assert data["baseline"]["metrics"]["word_error_rate"]["value"] == 100
    assert data["baseline"]["seen"]["sources"] == 2
    assert data["confusions"]["edits"] == 2
    assert data["confusions"]["most_frequent"][0]["source"] == "gatto"
