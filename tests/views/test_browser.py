"""The page in a real browser: every control, pointing, keys, and what is saved."""

import csv
import io
import re
from base64 import b64encode
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from regard.evaluation import format_links, links_from_attention
from regard.views import AttentionView, Report, Section, attention_html, report_html

from .browser import CHROMIUM, DRIVER, Browser
from .examples import HOSTILE, PONDERED, RIGHT_TO_LEFT, SMALL, deep, square

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
SVG = "{http://www.w3.org/2000/svg}"
CROSS = "Output to source (cross-attention)"
ENCODER = "Source to source (encoder)"
DECODER = "Output to what came before (decoder)"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    if not (CHROMIUM and DRIVER):
        pytest.skip("no Chromium with its driver (Debian: chromium, chromium-driver)")
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium):
    """Whatever a test does, the page complains of nothing and asks for no other address."""
    yield chromium
    assert chromium.complaints() == []
    assert not [url for url in chromium.addresses() if url.startswith(("http", "ws", "ftp"))]


def table(browser):
    """What is seen, as saved: labels of columns, labels of rows, weights."""
    rows = list(csv.reader(io.StringIO(browser.save("CSV").decode("utf-8"), newline="")))
    weights = np.array([[float(value) for value in row[1:]] for row in rows[1:]])
    return rows[0][1:], [row[0] for row in rows[1:]], weights


def tokens(side):
    return f"return all('.tokens.{side} .token').map((each) => each.firstChild.textContent)"


def active(browser, side):
    return browser.run(f"return all('.tokens.{side} .active').map((e) => e.firstChild.textContent)")


def readout(browser):
    return browser.run("return text('.readout')")


PIXELS = """
const pixels = (picture) => {
  const copy = document.createElement("canvas");
  copy.width = picture.width;
  copy.height = picture.height;
  const context = copy.getContext("2d");
  context.drawImage(picture, 0, 0);
  return context.getImageData(0, 0, copy.width, copy.height).data;
};
"""


def inked(browser, canvas):
    """How many pixels of a canvas are drawn on."""
    return browser.run(
        PIXELS
        + "return pixels(one(arguments[0])).filter((each, i) => i % 4 === 3 && each > 40).length",
        canvas,
    )


def cell(browser, row, place):
    """Where the middle of a cell of 34 pixels is on the heat map."""
    wide, high = browser.run(
        "const at = one('.map > div'); return [at.offsetWidth, at.offsetHeight]"
    )
    rows, columns = (len(browser.run(tokens(side))) for side in ("rows", "columns"))
    left, top = wide - 1 - 34 * columns, high - 1 - 34 * rows
    return left + (place + 0.5) * 34, top + (row + 0.5) * 34


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


@pytest.mark.parametrize("words", [False, True])
def test_alignments_are_those_of_python(browser, words):
    view = deep(12, 9)
    browser.open(attention_html(view))
    if words:
        browser.click("input[name=words]")  # always between words: nothing changes
    expected = links_from_attention(view.attention, view.source_words, view.words)
    assert browser.save("Alignment").decode("utf-8") == format_links(expected) + "\n"
    browser.choose("layer", "1")
    browser.choose("head", "3")
    expected = links_from_attention(view.stacks[0].weights[0, 2], view.source_words, view.words)
    assert browser.save("Alignment").decode("utf-8") == format_links(expected) + "\n"


def test_pictures_hold_what_is_seen(browser):
    view = deep(4, 5)
    browser.open(attention_html(view))
    browser.choose("attention", DECODER)
    weights = view.stacks[2].weights[0].mean(0)
    text = browser.save("SVG")
    root = ElementTree.fromstring(text)
    titles = [e.text for e in root.iter(f"{SVG}title")]
    assert len(titles) == 16
    for title, weight in zip(titles, weights.ravel(), strict=True):
        assert float(title.split(": ")[1]) == pytest.approx(weight, abs=1e-5)
    lines = list(root.iter(f"{SVG}path"))
    assert len(lines) == (weights >= 0.02 * weights.max()).sum()
    strongest = max(float(line.get("stroke-opacity")) for line in lines)
    assert strongest == pytest.approx(0.9, abs=1e-3)
    labels = [e.text for e in root.iter(f"{SVG}text")]
    assert "layer 1, mean of 3 heads" in labels[0]
    assert labels.count("<s>") == labels.count("</s>") == 2
    width, height = int(root.get("width")), int(root.get("height"))
    png = browser.save("PNG")
    assert png.startswith(b"\x89PNG")
    size = [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)]
    assert size == [2 * width, 2 * height]
    shades = browser.run(
        PIXELS + "const image = new Image(); return new Promise((done) => {"
        "image.onload = () => done(new Set(pixels(image)).size); image.src = arguments[0]; })",
        "data:image/png;base64," + b64encode(png).decode(),
    )
    assert shades > 20  # it is a picture, and not a blank one


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


SLOW = 8  # tests share their processors with others; alone it takes a fraction
