"""Pointing at a page, with the mouse and with keys, in a real browser."""

import numpy as np
import pytest

from regard.views import attention_html

from .examples import RIGHT_TO_LEFT, SMALL, deep
from .reading import active, cell, inked, readout

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_pointing_at_a_token_shows_its_row_and_lets_go(browser):
    browser.open(attention_html(SMALL))
    assert readout(browser).startswith("Point at a token")
    everything = inked(browser, ".threads")
    browser.point(".tokens.rows .token:nth-child(2)")
    assert active(browser, "rows") == ["Hund"]
    assert active(browser, "columns") == []
    weights = browser.run(
        "return all('.tokens.columns .token').map((e) => e.style.getPropertyValue('--weight'))"
    )
    assert [float(weight) for weight in weights] == pytest.approx([0.2, 0.7, 0.1], abs=1e-4)
    assert readout(browser) == (
        "Hund attends to dog 0.70, a 0.20, </s> 0.10; its probability: 0.250"
    )
    assert 0 < inked(browser, ".threads") < everything
    browser.point("h1")
    assert active(browser, "rows") == []
    assert inked(browser, ".threads") == everything
    browser.point(".tokens.columns .token:nth-child(1)")
    assert readout(browser) == "a is attended to by ein 0.90, Hund 0.20"


def test_a_click_keeps_on_either_side_and_another_lets_go(browser):
    browser.open(attention_html(SMALL))
    for side, name in (("rows", "Hund"), ("columns", "dog")):
        browser.click(f".tokens.{side} .token:nth-child(2)")
        browser.run("document.activeElement.blur()")
        browser.point("h1")
        assert active(browser, side) == [name]
        browser.click(f".tokens.{side} .token:nth-child(2)")
        browser.run("document.activeElement.blur()")
        browser.point("h1")
        assert active(browser, side) == []


def test_a_cell_shows_both_its_tokens_right_to_left_too(browser):
    for view, row, place, said in (
        (SMALL, 1, 1, "Hund attends to dog: 0.7000"),
        (RIGHT_TO_LEFT, 1, 0, "بالعالم attends to עולם: 0.7500"),
    ):
        browser.open(attention_html(view))
        browser.point(".map", *cell(browser, row, place))
        assert readout(browser) == said
        browser.click(".map", *cell(browser, row, place))
        browser.point("h1")
        assert len(active(browser, "rows")) == len(active(browser, "columns")) == 1
        browser.press("Escape")
        assert active(browser, "rows") == []


def test_the_keyboard_alone_reaches_everything(browser):
    browser.open(attention_html(deep(4, 5)))
    reached = set()
    for _ in range(15):
        browser.press("Tab")
        reached.add(
            browser.run(
                "const at = document.activeElement;"
                "const own = at.classList[0] || at.textContent;"
                "return at.name || `${at.parentElement.className} ${own}`"
            )
        )
    assert {"attention", "layer", "words", "saving SVG", "saving Alignment"} <= reached
    assert {"tokens columns source token", "tokens rows output token", "panels map"} <= reached
    browser.run("one('.tokens.columns .token').focus()")
    browser.press("ArrowRight")
    assert active(browser, "columns") == ["s1"]
    weights = np.array(deep(4, 5).attention)
    browser.press("ArrowDown")  # to the one that looks at it the most
    assert active(browser, "rows") == [["t0", "t1", "t2", "</s>"][weights[:, 1].argmax()]]
    browser.press("Home", "Enter")
    browser.run("document.activeElement.blur()")
    assert active(browser, "rows") == ["t0"]
    browser.run("one('.map').focus()")
    browser.press("Escape", "ArrowDown", "ArrowDown", "ArrowRight")
    assert readout(browser) == f"t1 attends to s1: {weights[1, 1]:.4f}"
    browser.press("Enter")
    browser.run("document.activeElement.blur()")
    assert active(browser, "columns") == ["s1"]
