import unicodedata

import pytest

from regard.views.labels import (
    clusters,
    display_width,
    is_right_to_left,
    printable,
    shortened,
    visible,
)

FAMILY = "👩\u200d👩\u200d👧"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("dog", "dog"),
        ("▁dog", "▁dog"),
        (" ", "␣"),
        (" a b", "␣a␣b"),
        ("", "∅"),
        ("\t", "␉"),
        ("\n", "␊"),
        ("\x00", "␀"),
        ("\x7f", "␡"),
        ("\x85", "‹U+0085›"),
        ("\u2028", "‹U+2028›"),
        ("\u00a0", "‹U+00A0›"),
        ("\u202e", "‹U+202E›"),
        ("a\u200fb", "a‹U+200F›b"),
        ("\u00ad", "‹U+00AD›"),
        ("\ufeff", "‹U+FEFF›"),
        ("\ud800", "‹U+D800›"),
        ("\ufffe", "‹U+FFFE›"),
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("\u200d", "‹U+200D›"),
        ("\ufe0f", "‹U+FE0F›"),
        ("❤\ufe0f", "❤\ufe0f"),
        (FAMILY, FAMILY),
        (ENGLAND, ENGLAND),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("<b>&", "<b>&"),
    ],
)
def test_visible(token, label):
    assert visible(token) == label


def test_every_invisible_character_gives_a_label_that_xml_can_hold_and_a_reader_can_see():
    invisible = ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp")
    tried = 0
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in invisible:
            tried += 1
            shown = {unicodedata.category(character) for character in visible(chr(code))}
            assert not shown & set(invisible[:1] + invisible[2:]), hex(code)
            assert shown != {"Cf"} or visible(chr(code)) in "؀؁؂؃؄؅۝܏࣢", hex(code)
    assert tried > 2200


def test_sentences_keep_their_spaces():
    assert printable("a b\u00a0c !") == "a b\u00a0c !"
    assert printable("a\tb\u202ec\x00") == "a␉b‹U+202E›c␀"
    assert printable(FAMILY) == FAMILY


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello שלום", False),
        ("שלום hello", True),
        ("123, مرحبا", True),
        ("123 ...", False),
        ("", False),
    ],
)
def test_direction_is_that_of_the_first_letter(text, expected):
    assert is_right_to_left(text) is expected


def test_clusters_keep_together_what_is_read_together():
    text = "e\u0301a" + FAMILY + "👍🏽" + "🇫🇷🇩🇪" + ENGLAND
    expected = ["e\u0301", "a", FAMILY, "👍🏽", "🇫🇷", "🇩🇪", ENGLAND]
    assert list(clusters(text)) == expected
    assert list(clusters("")) == []


def test_widths_order_as_they_look():
    assert display_width("iii") < display_width("aaa") < display_width("MMM")
    assert display_width("日本") == 2
    assert display_width("e\u0301") == display_width("e")
    assert display_width(FAMILY) == display_width("🍕")


def test_shortened_cuts_between_clusters_and_says_so():
    assert shortened("short", 10) == "short"
    cut = shortened("a" * 100, 10)
    assert cut.endswith("…")
    assert display_width(cut) <= 10.5
    assert shortened(FAMILY * 3, 2.5) == FAMILY + "…"
