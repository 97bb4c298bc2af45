from base64 import b64decode

import pytest

from regard.errors import UserError
from regard.views import (
    Figure,
    Picture,
    Report,
    Section,
    Step,
    attention_png,
    report_html,
    write_report,
)
from regard.views.charts import LineChart
from regard.views.report_html import Table

from .examples import HOSTILE, RIGHT_TO_LEFT, SMALL
from .test_page_html import Page, embedded

REPORT = Report(
    title="First <light>",
    introduction=("Two models & a page.", "Measured on words they never saw."),
    sections=(
        Section(
            heading="Words to phones",
            paragraphs=("Letters in, phones out.",),
            figures=(
                Figure("Word error rate", "18.4 %", "of 1,500 words"),
                Figure("Phone error rate", "< 3 %"),
            ),
            views=(SMALL, RIGHT_TO_LEFT),
        ),
        Section(heading="Scenes", pictures=(Picture(attention_png(SMALL), "A map", 'a "map"'),)),
    ),
    steps=(Step("Translate a line:", 'echo "a < b" | regard translate --model demo/scenes'),),
)


def test_everything_is_there_in_order():
    text = report_html(REPORT)
    found = Page(text)
    assert not found.open
    assert found.all("title")[0]["text"] == "First <light>"
    assert found.all("h1")[0]["text"] == "First <light>"
    headings = [e["text"] for e in found.all("h2")]
    assert headings == ["Words to phones", "Scenes", "What to try next"]
    paragraphs = [e["text"] for e in found.all("p")]
    assert "Two models & a page." in paragraphs
    assert "Letters in, phones out." in paragraphs
    assert [e["text"] for e in found.all("th", scope="row")] == [
        "Word error rate",
        "Phone error rate",
    ]
    cells = [e["text"] for e in found.all("td")]
    assert cells[:4] == ["18.4 %", "of 1,500 words", "< 3 %", ""]
    assert len(embedded(text)) == 2
    assert found.all("code")[0]["text"] == 'echo "a < b" | regard translate --model demo/scenes'


def test_pictures_are_inside():
    (image,) = Page(report_html(REPORT)).all("img")
    kind, data = image["src"].split(",", 1)
    assert kind == "data:image/png;base64"
    assert b64decode(data) == attention_png(SMALL)
    assert image["alt"] == 'a "map"'


def test_hostile_text_stays_text():
    shout = "<script>x</script>"
    report = Report(
        shout,
        (shout,),
        (Section(shout, (shout,), (Figure(shout, shout, shout),), (), (HOSTILE,)),),
        (Step(shout, shout),),
    )
    found = Page(report_html(report))
    assert len(found.all("script")) == 2
    assert found.all("code")[0]["text"] == shout


def test_a_bare_report_is_a_page():
    found = Page(report_html(Report("Nothing yet")))
    assert not found.open
    assert not found.all("section")
    assert not found.all("footer")


def test_written_whole_or_refused(tmp_path):
    path = tmp_path / "report.html"
    write_report(REPORT, path)
    assert path.read_text(encoding="utf-8") == report_html(REPORT)
    with pytest.raises(UserError, match="missing"):
        write_report(REPORT, tmp_path / "missing" / "report.html")


def test_tables_and_charts():
    table = Table(
        ("text", "count"), (("<b>שלום</b>", "3"),), numbers=(1,), caption="What & how often"
    )
    section = Section("More", charts=(LineChart("loss", "updates", ((1, 2),)),), tables=(table,))
    page = Page(report_html(Report("x", sections=(section,))))
    assert page.all("caption")[0]["text"] == "What & how often"
    cell, number = page.all("td")
    assert (cell["text"], cell["dir"]) == ("<b>שלום</b>", "auto")
    assert (number["text"], number["class"]) == ("3", "number")
    assert len(page.all("svg", **{"class": "chart"})) == 1
