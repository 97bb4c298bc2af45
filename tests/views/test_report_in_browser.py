"""The report of a model in a real browser, light and dark."""

import pytest

from regard.report import model_report
from regard.views import report_html

from .findings import findings

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.mark.parametrize("dark", [False, True])
def test_it_opens_and_can_be_read(browser, dark):
    """No script of the data runs, charts have the scheme's colors, Hebrew runs right to left."""
    browser.open(report_html(model_report(findings())), dark=dark)
    assert browser.run("return all('h2').length") == 11
    assert browser.run("return all('svg.chart').length") == 5
    colors = browser.run(
        "const style = (selector) => getComputedStyle(one(selector));"
        "return [style('.chart .title').fill, style('body').color, style('body').backgroundColor]"
    )
    assert colors[0] == colors[1] != colors[2]
    directions = browser.run(
        "return all('td').filter((each) => each.textContent.startsWith('\u05e9'))"
        ".map((each) => getComputedStyle(each).direction)"
    )
    assert directions == ["rtl"]
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")
    browser.click("summary")
    assert browser.run("return one('details').open || all('details').some((each) => each.open)")
