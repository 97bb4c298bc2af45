import re
from xml.etree import ElementTree

import pytest

from regard.views import AttentionView, attention_svg
from regard.views.heatmap_layout import lay_out
from regard.views.heatmap_svg import inline_svg

from .examples import HOSTILE, RIGHT_TO_LEFT, SMALL, square

SVG = "{http://www.w3.org/2000/svg}"


def cells(root):
    """(x, y) -> (opacity, tooltip) of every cell."""
    return {
        (round(float(rect.get("x"))), round(float(rect.get("y")))): (
            float(rect.get("fill-opacity")),
            rect.find(f"{SVG}title").text,
        )
        for rect in root.iter(f"{SVG}rect")
        if rect.find(f"{SVG}title") is not None
    }


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def test_every_weight_is_a_shade_and_a_tooltip_in_its_place():
    layout = lay_out(SMALL)
    drawn = cells(ElementTree.fromstring(attention_svg(SMALL)))
    assert len(drawn) == 9
    for row, weights in enumerate(SMALL.attention):
        for column, weight in enumerate(weights):
            opacity, tooltip = drawn[round(layout.left + column * 40), round(layout.top + row * 40)]
            assert opacity == pytest.approx(weight, abs=0.001)
            pair = f"{SMALL.tokens[row]} ← {SMALL.source_tokens[column]}"
            assert tooltip == f"{pair}: {weight:.4f}"


def test_labels_heading_legend_and_figures():
    root = ElementTree.fromstring(attention_svg(SMALL))
    written = texts(root)
    for text in ("A small one", "a", "dog", "ein", "Hund", "0.90", "0", "source →", "output ↓"):
        assert text in written
    assert "1\u2002attention weight" in written
    assert "0.00" not in written  # cells under 0.05 stay empty
    assert root.get("aria-label") == "Attention of the output “ein Hund” to the source “a dog”"
    assert "p" in written  # the probabilities' column
    assert "p" not in texts(ElementTree.fromstring(attention_svg(RIGHT_TO_LEFT)))


def test_right_to_left_sources_start_at_the_right():
    layout = lay_out(RIGHT_TO_LEFT)
    drawn = cells(ElementTree.fromstring(attention_svg(RIGHT_TO_LEFT)))
    opacity, tooltip = drawn[round(layout.left + 40), round(layout.top)]
    assert (opacity, tooltip) == (1.0, "مرحبا ← שלום: 1.0000")
    assert "← source" in texts(ElementTree.fromstring(attention_svg(RIGHT_TO_LEFT)))


def test_hostile_text_is_shown_and_stays_text():
    svg = attention_svg(HOSTILE)
    svg.encode("utf-8")
    root = ElementTree.fromstring(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg",
        "rect",
        "g",
        "text",
        "title",
        "path",
    }
    written = texts(root)
    for text in ("<script>", "&amp;", "'r'", "␀", "]]>", "‹U+D800›", "</script>", "␣", "‹U+202E›"):
        assert text in written
    assert "<b>bold</b> & ␛[31m‹U+D800›" in written


def test_nothing_is_loaded_from_anywhere():
    for view in (SMALL, HOSTILE):
        svg = attention_svg(view)
        links = re.findall(r"https?://[^\"'\s]*", svg)
        assert set(links) == {"http://www.w3.org/2000/svg"}
        assert "href" not in svg
        assert "url(" not in svg
        assert "<script" not in svg


def test_cells_shrink_and_labels_stay_inside():
    assert lay_out(square(3)).cell == 40
    assert lay_out(square(40)).cell == 22.5
    assert lay_out(square(300)).cell == 8
    for view in (SMALL, RIGHT_TO_LEFT, HOSTILE, square(40), square(120)):
        layout = lay_out(view)
        assert 0 < layout.left < layout.right <= layout.width
        assert 0 < layout.top < layout.bottom < layout.legend_top < layout.height
        assert layout.font_size <= max(layout.cell, 6)


def test_labels_lie_flat_when_they_fit_and_rise_when_not():
    letters = AttentionView("abc", "xyz", "abc", "xyz", [[1, 0, 0]] * 3)
    assert lay_out(letters).angle == 0
    assert "rotate" not in attention_svg(letters)
    long = AttentionView("a", "b", ["internationalization"], ["b"], [[1.0]])
    assert lay_out(long).angle > 0
    assert attention_svg(long).count("rotate(") == 1
    assert lay_out(long).top > lay_out(letters).top


def test_long_tokens_are_cut_visibly_and_whole_in_the_tooltip():
    token = "Donaudampfschifffahrtsgesellschaftskapitän"
    root = ElementTree.fromstring(attention_svg(AttentionView("a", "b", ["a"], [token], [[1.0]])))
    labels = [text for text in texts(root) if text.startswith("Donau")]
    assert len(labels) == 1
    assert labels[0].endswith("…")
    assert [tooltip for _, tooltip in cells(root).values()] == [f"{token} ← a: 1.0000"]


def test_the_element_for_pages_has_no_heading_and_no_empty_cells():
    root = ElementTree.fromstring(inline_svg(SMALL))
    assert root.tag == "svg"  # in a page, HTML knows what it is
    assert root.get("class") == "heatmap"
    assert "A small one" not in [element.text for element in root.iter("text")]
    assert not list(root.iter("title")) or "probability" in next(root.iter("title")).text
    weights = next(group for group in root.iter("g") if group.get("class") == "weights")
    assert len(weights) == 7  # two of nine are zero
    assert inline_svg(RIGHT_TO_LEFT).count('data-mirrored="true"') == 1


def test_an_output_of_nothing_is_drawn_too():
    ElementTree.fromstring(attention_svg(AttentionView("", "", [], [], [])))
    ElementTree.fromstring(attention_svg(AttentionView("a", "", ["a"], [], [])))
    ElementTree.fromstring(attention_svg(AttentionView("", "b", [], ["b"], [[]])))
