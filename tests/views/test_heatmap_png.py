import warnings
from io import BytesIO

import numpy as np
import pytest

from regard.views import AttentionView, attention_png
from regard.views.fonts import choose_fonts
from regard.views.heatmap_layout import lay_out
from regard.views.palette import ACCENT, EMPTY

from .examples import HOSTILE, RIGHT_TO_LEFT, SMALL, square


def pixels(png):
    from matplotlib.image import imread

    return imread(BytesIO(png))[..., :3]


def color(text):
    return np.array([int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)])


@pytest.mark.parametrize("view", [SMALL, RIGHT_TO_LEFT, square(30)])
def test_cells_have_the_colors_of_their_weights(view):
    layout = lay_out(view)
    image = pixels(attention_png(view, scale=2))
    assert image.shape[:2] == (int(layout.height * 2), int(layout.width * 2))
    for row, weights in enumerate(view.attention):
        for column, weight in enumerate(weights):
            # near a corner of the cell, where no figure is written
            x = layout.column_left(column) + layout.cell * 0.12
            y = layout.row_top(row) + layout.cell * 0.12
            expected = color(EMPTY) * (1 - weight) + color(ACCENT) * weight
            seen = image[int(y * 2), int(x * 2)]
            assert np.abs(seen - expected).max() < 0.02, (row, column)


def test_labels_are_written():
    layout = lay_out(SMALL)
    image = pixels(attention_png(SMALL, scale=2))
    strip = image[int(layout.top * 2) : int(layout.bottom * 2), : int(layout.left * 2) - 8]
    assert strip.min() < 0.3
    heading = image[: int(16 + layout.heading_size) * 2]
    assert heading.min() < 0.3


def test_no_warning_and_no_math_for_any_text(caplog):
    emoji = AttentionView(
        "🍕", "$\\frac{1}{2}$", ["🍕👩‍👩‍👧"], ["$\\frac{", "日本", "नमस्ते"], [[1]] * 3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for view in (HOSTILE, emoji, AttentionView("", "", [], [], [])):
            assert attention_png(view).startswith(b"\x89PNG\r\n\x1a\n")
    assert not [record for record in caplog.records if record.name.startswith("matplotlib")]


def test_characters_without_a_glyph_are_found():
    families, missing = choose_fonts(frozenset("abcäöüЖשم"))
    assert (families, missing) == (["DejaVu Sans"], frozenset())
    unassigned = "\U0003fffd"  # no font has it, placeholder fonts aside
    families, missing = choose_fonts(frozenset("a" + unassigned))
    assert missing == {unassigned}


def test_very_large_views_are_drawn_at_a_lower_scale(monkeypatch):
    monkeypatch.setattr("regard.views.drawing._LARGEST", 200_000)
    layout = lay_out(square(9))
    assert layout.width * layout.height * 4 > 300_000
    height, width = pixels(attention_png(square(9))).shape[:2]
    assert 190_000 < height * width <= 201_000
    assert width / height == pytest.approx(layout.width / layout.height, rel=0.01)


def test_old_matplotlib_gets_letters_in_the_order_they_are_seen(monkeypatch):
    from matplotlib.axes import Axes

    from regard.views import drawing

    monkeypatch.setattr(drawing, "_matplotlib_orders_letters", lambda: False)
    written = []
    original = Axes.text

    def text(self, x, y, string, **look):
        written.append(string)
        return original(self, x, y, string, **look)

    monkeypatch.setattr(Axes, "text", text)
    attention_png(AttentionView("שלום", "dog", ["שָׁלוֹם"], ["dog"], [[1.0]]))
    assert "dog" in written
    assert "םוֹלשָׁ" in written  # points stay with their letters
