"""What a page saves, in a real browser, beside what Python has."""

from base64 import b64encode
from xml.etree import ElementTree

import pytest

from regard.evaluation import format_links, links_from_attention
from regard.views import attention_html

from .examples import deep
from .reading import DECODER, PIXELS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
SVG = "{http://www.w3.org/2000/svg}"


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
