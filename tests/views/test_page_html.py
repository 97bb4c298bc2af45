import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from regard.views import AttentionView, attention_html
from regard.views.labels import visible
from regard.views.packing import Packed, Precision, unpack
from regard.views.page_html import attention_element, page

from .examples import HOSTILE, RIGHT_TO_LEFT, SMALL, deep, square


class Page(HTMLParser):
    """Elements with their attributes and text, as a browser would find them."""

    VOID = frozenset({"meta", "rect", "path", "img"})

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "text": "", **dict(attributes)}
        self.elements.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.elements.append({"tag": tag, "text": "", **dict(attributes)})

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        if self.open:
            self.open[-1]["text"] += data

    def all(self, tag, **attributes):
        return [
            element
            for element in self.elements
            if element["tag"] == tag
            and all(element.get(name.rstrip("_")) == value for name, value in attributes.items())
        ]


def embedded(text):
    return [json.loads(e["text"]) for e in Page(text).all("script", type="application/json")]


@pytest.mark.parametrize("view", [SMALL, RIGHT_TO_LEFT, HOSTILE, square(40), deep(5, 7)])
def test_the_page_is_well_formed_and_holds_everything(view):
    text = attention_html(view)
    text.encode("utf-8")
    found = Page(text)
    assert not found.open
    assert len(found.all("svg", class_="heatmap")) == 1
    (data,) = embedded(text)
    assert data["source"]["tokens"] == [visible(token) for token in view.source_tokens]
    assert data["output"]["tokens"] == [visible(token) for token in view.tokens]
    packed = Packed(
        data["shown"]["codes"],
        data["shown"]["largest"],
        Precision(data["shown"]["levels"], data["shown"]["power"]),
        0.0,
    )
    assert np.abs(unpack(packed) - np.ravel(view.attention)).max() < 1e-5


def test_nothing_is_loaded_from_anywhere():
    for view in (SMALL, HOSTILE):
        text = attention_html(view)
        assert set(re.findall(r"https?://[\w./]*", text)) == {"http://www.w3.org/2000/svg"}
        assert not re.search(r"<link|@import|url\(|\bfetch\(|XMLHttpRequest|\bimport\b", text)
        found = Page(text)
        assert all("src" not in e and "href" not in e for e in found.elements)
        policy = found.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
        assert policy.startswith("default-src 'none';")


def test_hostile_text_is_shown_and_stays_text():
    text = attention_html(HOSTILE)
    found = Page(text)
    tags = {element["tag"] for element in found.elements}
    assert not tags & {"img", "iframe"}
    assert [e["text"] for e in found.all("b")] == ["7", "6"]  # the page's own: counts of tokens
    assert len(found.all("script")) == 2  # the data and the program
    assert all(not name.startswith("on") for e in found.elements for name in e)
    (data,) = embedded(text)
    assert data["source"]["tokens"][:2] == ["<script>", "&amp;"]
    assert "␀" in data["source"]["tokens"]
    assert data["output"]["tokens"][0] == "</script>"
    sentences = [e["text"] for e in found.all("p", dir="auto")]
    assert sentences[0] == "<script>alert(1)</script> & \"q\" 'r'"
    assert sentences[1].endswith("‹U+2028›‹U+202E›")
    assert found.all("h1")[0]["text"] == "<b>bold</b> & ␛[31m‹U+D800›"


def test_direction_follows_each_side():
    (data,) = embedded(attention_html(RIGHT_TO_LEFT))
    assert (data["source"]["rtl"], data["output"]["rtl"]) == (True, True)
    mixed = AttentionView("שלום", "hello", ["שלום"], ["hello"], [[1.0]])
    (data,) = embedded(attention_html(mixed))
    assert (data["source"]["rtl"], data["output"]["rtl"]) == (True, False)


def test_facts():
    text = attention_html(SMALL)
    facts = "".join(e["text"] for e in Page(text).all("b"))
    assert "−1.250" in facts
    words = [e["text"] for e in Page(text).all("bdi")]
    assert words == ["a", "ein", "dog", "Hund"]
    bare = attention_html(RIGHT_TO_LEFT)
    assert "log-probability" not in bare
    assert not Page(bare).all("bdi")
    assert embedded(bare)[0]["output"]["probabilities"] is None
    assert embedded(text)[0]["output"]["probabilities"] == [0.5, 0.25, 1.0]


def test_a_single_word_has_no_word_links():
    view = AttentionView(
        "ciao", "tʃ a o", "ciao", ["tʃ", "a", "o"], [[1, 0, 0, 0]] * 3, None, [(0, 0)]
    )
    assert "word links" not in attention_html(view)


def test_links_that_point_outside_the_words_are_left_out():
    view = AttentionView("a b", "c d", "ab", "cd", [[1, 0]] * 2, None, [(0, 0), (7, 1), (1, 9)])
    assert [e["text"] for e in Page(attention_html(view)).all("bdi")] == ["a", "c"]


def test_light_and_dark_and_reading_without_scripts():
    text = attention_html(SMALL)
    assert "prefers-color-scheme: dark" in text
    assert "Attention shows where the model looked" in text
    assert ">0.70</text>" in text
    assert len(Page(text).all("noscript")) == 1
    assert "<svg" not in attention_html(square(41)).split("<script>")[0]  # too large without


def test_one_page_holds_several_views():
    text = page("Two", attention_element(SMALL) + attention_element(RIGHT_TO_LEFT))
    found = Page(text)
    assert not found.open
    assert len(found.all("article", class_="attention")) == 2
    assert [len(data["output"]["tokens"]) for data in embedded(text)] == [3, 3]
    assert [e["text"] for e in found.all("h3")] == ["A small one"]
    assert text.count('"use strict"') == 1
    assert not [e for e in found.elements if "id" in e]  # nothing that could clash


def test_every_kind_is_in_the_page_and_how_exactly_it_is_told():
    view = deep(5, 7)
    text = attention_html(view)
    (data,) = embedded(text)
    assert data["shownAs"] == "layer 2, mean over heads"
    assert [stack["kind"] for stack in data["stacks"]] == ["cross", "encoder", "decoder"]
    for stack, given in zip(data["stacks"], view.stacks, strict=True):
        assert (stack["layers"], stack["heads"], stack["steps"], stack["mean"]) == (
            2,
            3,
            False,
            False,
        )
        packed = Packed(
            stack["codes"], stack["largest"], Precision(stack["levels"], stack["power"]), 0.0
        )
        assert np.abs(unpack(packed) - given.weights.ravel()).max() < 1e-5
    assert data["read"]["tokens"] == ["<s>", "t0", "t1", "t2", "t3"]
    assert data["read"]["words"] == [-1, 0, 0, 1, 1]
    assert data["source"]["wordLabels"] == ["s0s1", "s2s3", "s4s5"]
    assert data["output"]["nextBest"][1] == [["o1", 0.25], ["<b>", 0.125], ["c", 0.0625]]
    cells = [e["text"] for e in Page(text).all("td")]
    assert cells[0] == "as answered" and cells[2] == "65535"
    assert "output to itself" in cells
    assert "Too large" not in text


def test_a_page_stays_small():
    assert len(attention_html(deep(30, 30, 6, 8)).encode()) < 600_000
    long = attention_html(deep(400, 400, 2, 2))
    assert len(long.encode()) < 1_000_000
    assert "Too large for one page" in long
