"""What can be chosen on a page, in a real browser, beside what Python has."""

from dataclasses import replace

import numpy as np
import pytest

from regard.views import Report, Section, attention_html, report_html

from .examples import PONDERED, RIGHT_TO_LEFT, SMALL, deep, square
from .reading import CROSS, DECODER, ENCODER, inked, readout, table

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_every_kind_layer_and_head_is_what_python_has(browser):
    view = deep(4, 5)
    browser.open(attention_html(view))
    assert browser.options("attention") == [CROSS, ENCODER, DECODER]
    assert browser.options("layer") == [
        "as answered: layer 2, mean over heads",
        "mean of all 2",
        "1",
        "2",
    ]
    assert np.abs(table(browser)[2] - np.array(view.attention)).max() < 1e-5
    assert not browser.element("select[name=head]").is_enabled()
    for name, stack in zip((CROSS, ENCODER, DECODER), view.stacks, strict=True):
        browser.choose("attention", name)
        for layer, head in (("mean of all 2", "mean of all 3"), ("1", "2"), ("2", "mean of all 3")):
            browser.choose("layer", layer)
            assert browser.options("head") == ["mean of all 3", "1", "2", "3"]
            browser.choose("head", head)
            weights = stack.weights
            weights = weights.mean(0) if "mean" in layer else weights[int(layer) - 1]
            weights = weights.mean(0) if "mean" in head else weights[int(head) - 1]
            columns, rows, found = table(browser)
            assert np.abs(found - weights).max() < 1e-5
            said = browser.run("return text('.legend')")
            assert name in said
            assert ("mean of 2 layers" in said) == ("mean" in layer)
            assert ("mean of 3 heads" in said) == ("mean" in head)
        assert browser.element("select[name=head]").is_enabled()
        aligns = browser.run("return !all('.saving button').at(-1).disabled")
        assert aligns == (name == CROSS)
    assert columns == ["<s>", "t0", "t1", "t2"]
    assert rows == ["t0", "t1", "t2", "</s>"]


def test_steps_of_a_universal_transformer_are_called_steps(browser):
    view = deep(4, 5, heads=1)
    stacks = tuple(replace(stack, steps=True) for stack in view.stacks)
    browser.open(attention_html(replace(view, stacks=stacks, shown="step 2, its one head")))
    assert browser.run("return all('.controls label span').map((e) => e.textContent)") == [
        "Attention",
        "Step",
        "Head",
    ]
    browser.choose("layer", "1")
    assert "step 1, its one head" in browser.run("return text('.legend')")
    assert np.abs(table(browser)[2] - stacks[0].weights[0, 0]).max() < 1e-5
    browser.open(attention_html(PONDERED))
    badges = browser.run("return all('.took').map((each) => each.textContent)")
    assert badges == ["2", "1", "4", "3", "8", "1"]
    browser.point(".tokens.rows .token:nth-child(2)")
    assert readout(browser).endswith("0.250; it took 8 steps (8.50 with the remainder)")


def test_whole_words_add_columns_and_average_rows(browser):
    view = deep(6, 7)
    browser.open(attention_html(view))
    browser.click("input[name=words]")
    columns, rows, found = table(browser)
    assert columns == ["s0s1", "s2s3", "s4s5", "</s>"]
    assert rows == ["t0t1", "t2t3", "t4", "</s>"]
    weights = np.array(view.attention)
    added = np.stack(
        [
            weights[:, [0, 1]].sum(1),
            weights[:, [2, 3]].sum(1),
            weights[:, [4, 5]].sum(1),
            weights[:, 6],
        ],
        1,
    )
    expected = np.stack([added[[0, 1]].mean(0), added[[2, 3]].mean(0), added[4], added[5]])
    assert np.abs(found - expected).max() < 1e-5
    browser.point(".tokens.rows .token:nth-child(1)")
    assert readout(browser).endswith("its probability: 0.250")  # of both its tokens
    assert browser.run("return all('.alternatives p').length") == 2
    browser.click("input[name=words]")
    assert np.abs(table(browser)[2] - weights).max() < 1e-5


def test_the_next_best_are_told_with_their_probabilities(browser):
    browser.open(attention_html(deep(4, 5)))
    assert browser.run("return all('.alternatives p').length") == 0
    browser.point(".tokens.rows .token:nth-child(3)")
    told = browser.run("return all('.alternatives .choice').map((each) => each.textContent)")
    assert told == ["t2 0.500", "o2 0.250", "<b> 0.125", "c 0.063"]


def test_zoom_keeps_labels_in_sight(browser):
    browser.open(attention_html(square(60)))
    before = browser.run("return one('.map > div').offsetWidth")
    for _ in range(4):
        browser.run("all('.saving button')[1].click()")
    browser.settle()
    assert browser.run("return one('.map > div').offsetWidth") > 2 * before
    browser.run("one('.map').focus()")
    browser.press("End", *["ArrowDown"] * 2)
    browser.run("one('.map').scrollLeft = 300; one('.map').scrollTop = 300")
    browser.settle()
    assert inked(browser, ".map canvas") > 0
    canvas, frame = browser.run(
        "return ['.map canvas', '.map'].map((each) => one(each).getBoundingClientRect().left)"
    )
    assert canvas == frame  # what is drawn stays, what is behind it moves
    for _ in range(12):
        browser.run("all('.saving button')[0].click()")
    assert browser.run("return one('.map > div').offsetWidth") < before


def test_several_views_stand_in_one_report(browser):
    section = Section("Two", views=(SMALL, RIGHT_TO_LEFT))
    browser.open(report_html(Report("Report", sections=(section,))))
    assert browser.run("return all('.attention').length") == 2
    browser.point(".attention:nth-child(2) .tokens.rows .token:nth-child(1)")
    said = browser.run("return all('.readout').map((each) => each.textContent)")
    assert said[0].startswith("Point at a token")
    assert said[1] == "مرحبا attends to שלום 1.00"
