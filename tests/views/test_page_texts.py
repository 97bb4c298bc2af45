"""Texts of every kind and length on a page, in a real browser, in light and dark."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from regard.views import AttentionView, attention_html

from .examples import HOSTILE, RIGHT_TO_LEFT, SMALL, deep, square
from .reading import PIXELS, inked, readout, table, tokens

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
SVG = "{http://www.w3.org/2000/svg}"
SLOW = 8  # tests share their processors with others; alone it takes a fraction


def test_light_and_dark(browser):
    drawn = {}
    for dark in (False, True):
        browser.open(attention_html(SMALL), dark=dark)
        drawn[dark] = browser.run(
            PIXELS + "const found = pixels(one('.map canvas'));"
            "return [getComputedStyle(document.body).backgroundColor, found.slice(-4000).join()]"
        )
    for one, other in zip(drawn[False], drawn[True], strict=True):
        assert one != other


def test_direction_of_each_side(browser):
    browser.open(attention_html(RIGHT_TO_LEFT))
    assert browser.run("return all('.tokens').map((each) => each.dir)") == ["rtl", "rtl"]
    first, second = browser.run(
        "return all('.tokens.columns .token').map((each) => each.getBoundingClientRect().left)"
    )
    assert first > second
    titles = ElementTree.fromstring(browser.save("SVG")).iter(f"{SVG}rect")
    places = {e[0].text: float(e.get("x")) for e in titles if len(e)}
    assert places["مرحبا → שלום: 1"] > places["مرحبا → עולם: 0"]


def test_hostile_text_runs_nothing(browser):
    shout = "<img src=x onerror=\"document.title='run'\">"
    formula = '=HYPERLINK("http://example.org")'
    view = AttentionView(
        f"{shout} {formula}",
        f"</script><script>document.title='run'</script> 🙂 {shout}",
        [shout, formula, "</s>"],
        ["</script>", "🙂", shout, "</s>"],
        np.full((4, 3), 1 / 3),
        title=shout,
        source_words=(0, 3, -1),
        words=(0, 1, 2, -1),
        probabilities=[0.5] * 4,
        next_best=[((shout, 0.1),)] * 4,
        shown=shout,
    )
    for each in (view, HOSTILE):
        browser.open(attention_html(each))
        browser.point(".tokens.rows .token:nth-child(1)")
        browser.click(".tokens.columns .token:nth-child(1)")
        assert browser.run("return all('img, iframe').length") == 0
        assert browser.run("return document.title") != "run"
    browser.open(attention_html(view))
    label = shout.replace(" ", "␣")
    assert browser.run(tokens("columns")) == [label, formula, "</s>"]
    columns, rows, weights = table(browser)
    assert columns == [label, "'" + formula, "</s>"]  # text to a spreadsheet too
    assert rows[:2] == ["</script>", "🙂"]
    assert np.abs(weights - 1 / 3).max() < 1e-5
    root = ElementTree.fromstring(browser.save("SVG"))
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
        "svg",
        "g",
        "rect",
        "path",
        "text",
        "title",
    }
    browser.save("PNG")
    assert browser.run("return document.title") != "run"


def test_one_token_and_a_narrow_window(browser):
    view = AttentionView("a", "b", ["a"], ["b"], [[1.0]], source_words=[0], words=[0])
    browser.open(attention_html(view))
    assert table(browser)[2].tolist() == [[1.0]]
    assert browser.save("Alignment") == b"0-0\n"
    assert browser.run("return all('select').length") == 0  # there is nothing to choose
    browser.driver.set_window_size(500, 800)
    try:
        browser.open(attention_html(deep(12, 12)))
        width = browser.run("return document.documentElement.scrollWidth - innerWidth")
        assert width <= 0
        assert browser.run("return one('.bridge').className") == "bridge sideways"
    finally:
        browser.driver.set_window_size(1200, 1000)


def test_long_inputs_open_soon_and_stay_fluid(browser):
    browser.open(attention_html(deep(30, 30, 6, 8)))
    assert int(browser.run("return one('.attention').dataset.ready")) < 1000 * SLOW
    browser.open(attention_html(square(1000)))
    assert int(browser.run("return one('.attention').dataset.ready")) < 3000 * SLOW
    assert browser.run("return all('.token').length") == 2000
    browser.run("all('.tokens')[0].scrollTop = all('.tokens')[1].scrollTop = 9000")
    browser.settle()
    assert inked(browser, ".threads") > 0
    spent = browser.run(
        "const list = one('.tokens.rows'); const start = performance.now();"
        "return new Promise((done) => { let frames = 0; const step = () => {"
        "list.scrollTop += 40; frames += 1;"
        "if (frames < 20) requestAnimationFrame(step); else done(performance.now() - start); };"
        "requestAnimationFrame(step); })"
    )
    assert spent / 20 < 50 * SLOW
    browser.run("one('.map').focus()")
    browser.press("ArrowDown", "ArrowDown")
    assert re.fullmatch(r"v1 attends to w0: 0\.0000", readout(browser))
