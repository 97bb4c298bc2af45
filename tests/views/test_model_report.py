"""The page of a model: every figure that was found, and a reason for what was not."""

import pytest

from regard.report import model_report, read_history
from regard.views import report_html

from .findings import METRICS, findings
from .test_page_html import Page


def sections(found) -> dict[str, object]:
    return {section.heading: section for section in model_report(found).sections}


def cells(section) -> list[list[str]]:
    return [list(row) for table in section.tables for row in table.rows]


def test_every_figure_is_there():
    found = sections(findings())
    assert cells(found["Scores"])[0][:3] == ["bleu", "35.51", "34.51 to 36.51"]
    assert ["given", "2"] in cells(found["Scores"])
    assert "A remark." in found["Scores"].paragraphs
    assert cells(found["By source length"])[0][:3] == ["1\u20134", "1", "40.00"]
    assert cells(found["By source length"])[1][0] == "7"
    assert cells(found["Word alignment"])[0][:2] == ["attention", "12.50"]
    assert cells(found["Entropy of attention"]) == [
        ["layer 1", "1.25", "0.50"],
        ["layer 2", "2.00", "0.25"],
    ]
    trusted = cells(found["How far to trust attention"])
    assert trusted[0] == ["hidden from attention", "attention", "0.61", "0.50 to 0.70", "80.0"]
    assert trusted[3][1:] == ["random weights", "0.01", "", "9.0"]
    assert [row[0] for row in cells(found["Most confused symbols"])] == ["deletion", "substitution"]


def test_curves_are_those_of_the_log():
    history = read_history(METRICS, "bleu")
    assert history.loss_by_update == ((50, 4.0), (100, 2.0), (150, 4 / 3), (200, 1.0))
    assert history.loss_by_minute[1] == (1.0, 2.0)
    assert history.metric_by_update == ((100, 20.0), (200, 35.5))  # not the average's
    assert [chart.title for chart in sections(findings())["Learning curves"].charts] == [
        "training loss",
        "training loss",
        "bleu, validation",
        "bleu, validation",
    ]
    empty = sections(findings(history=read_history([], "bleu")))["Learning curves"]
    assert not empty.charts and "before its first figures" in empty.paragraphs[0]


NAMED = {
    "history": "Learning curves",
    "lengths": "By source length",
    "extremes": "Best and worst",
    "confusions": "Most confused symbols",
    "examples": "Attention",
    "alignments": "Word alignment",
    "pointing": "Pointing",
    "entropies": "Entropy of attention",
    "trust": "How far to trust attention",
}


@pytest.mark.parametrize("part", NAMED)
def test_what_is_missing_says_why(part):
    section = sections(findings(**{part: "For this very reason."}))[NAMED[part]]
    assert section.paragraphs == ("For this very reason.",)
    assert not section.tables and not section.charts and not section.views


@pytest.mark.parametrize("part", ["lengths", "confusions", "alignments", "pointing"])
def test_what_does_not_apply_is_not_there(part):
    assert NAMED[part] not in sections(findings(**{part: None}))


def test_text_is_only_text():
    text = report_html(model_report(findings()))
    page = Page(text)
    assert not page.open
    own = [each for each in page.all("script") if each.get("type") != "application/json"]
    assert len([each for each in own if "type" not in each]) == 1
    assert "<script>alert" not in text and "\u202e" not in text
    assert page.all("h1")[0]["text"].startswith("run <script>alert(1)</script>")
    assert any("<script>alert(1)" in each["text"] for each in page.all("code"))
