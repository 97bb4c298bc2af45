"""What each token of a caption looked at, as SVG, PNG, JSON and page, without a browser."""

import io
import json
import re
import xml.etree.ElementTree as ET
from base64 import b64decode

import numpy as np
import pytest
from PIL import Image

from regard.views import attention_html, attention_json, save_view, tiles_png, tiles_svg
from regard.views.seen_image import light
from regard.views.tiles_layout import THICKEST, lay_out_tiles

from .examples import SMALL, captioned
from .test_page_html import Page, embedded

SVG = "{http://www.w3.org/2000/svg}"


def test_an_svg_has_a_tile_a_token_with_its_veil_and_every_weight():
    view = captioned()
    root = ET.fromstring(tiles_svg(view, view.image))
    labels = [t.text for t in root.iter(f"{SVG}text")]
    assert [label for label in labels if label in view.tokens] == list(view.tokens)
    assert len(list(root.iter(f"{SVG}use"))) == 5  # the picture itself comes first
    assert root.find(f".//{SVG}defs/{SVG}image").get("href") == view.image.uri
    veils = [each for each in root.iter(f"{SVG}image") if each.get("class") == "veil"]
    for veil, weights in zip(veils, view.attention, strict=True):
        data = b64decode(veil.get("href").partition(",")[2])
        alpha = np.array(Image.open(io.BytesIO(data)))[..., 3]
        assert alpha.shape == (60, 120)
        expected = 255 * THICKEST * (1 - light(view.image, weights, 120, 60))
        assert np.abs(alpha - expected).max() <= 0.5 + 1e-9
    said = [title.text for title in root.iter(f"{SVG}title")]
    assert said[:6] == [
        f"a ← {name}: {weight:.4f}"
        for name, weight in zip(view.image.cell_names(), view.attention[0], strict=True)
    ]


def test_a_png_shows_the_picture_and_then_its_veiled_copies():
    view = captioned()
    layout = lay_out_tiles(view, view.image)
    drawn = np.array(Image.open(io.BytesIO(tiles_png(view, view.image))).convert("RGB"), float)
    assert drawn.shape[:2] == (round(2 * layout.height), round(2 * layout.width))

    def at(tile, x, y):
        """A color in a tile, x and y from 0 to 1."""
        across, down = tile.x + x * layout.tile_width, tile.y + y * layout.tile_height
        return drawn[int(2 * down), int(2 * across)]

    plain, first = layout.tiles[0], layout.tiles[1]
    assert np.abs(at(plain, 0.1, 0.9) - (212, 220, 228)).max() <= 2
    assert np.abs(at(plain, 0.5, 0.25) - (220, 38, 44)).max() <= 2
    weights = np.array(view.attention[0]).reshape(2, 3)
    veil = np.array([0x0B, 0x0D, 0x12])
    for row in range(2):
        for column in (0, 2):  # outside the red square
            opacity = THICKEST * (1 - weights[row, column] / weights.max())
            expected = (1 - opacity) * np.array([212, 220, 228]) + opacity * veil
            found = at(first, (column + 0.5) / 3, (row + 0.5) / 2)
            assert np.abs(found - expected).max() <= 4


def test_json_has_the_names_of_caption(tmp_path):
    view = captioned()
    save_view(view, tmp_path / "a.json")
    data = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert data == json.loads(attention_json(view))
    assert data["image"] == view.source and data["text"] == view.text
    assert data["size"] == [120, 60] and data["covered"] == [0, 0, 120, 60]
    assert np.array(data["attention"]).shape == (4, 2, 3)
    assert np.array(data["attention"]).ravel() == pytest.approx(np.ravel(view.attention))
    assert data["token_probabilities"] == [1.0, 0.5, 0.25, 0.75]
    assert not {"source", "source_tokens", "alignment"} & data.keys()


def test_a_page_holds_the_picture_once_and_loads_nothing(tmp_path):
    view = captioned(layers=2)
    text = attention_html(view)
    found = Page(text)
    assert not found.open
    (image,) = found.all("img")
    assert image["src"] == view.image.uri and image["alt"] == view.source
    assert text.count(view.image.uri) == 1
    assert set(re.findall(r"https?://[\w./]*", text)) <= {"http://www.w3.org/2000/svg"}
    (data,) = embedded(text)
    assert data["source"]["tokens"][0] == "row 1, column 1"
    assert (data["image"]["rows"], data["image"]["columns"]) == (2, 3)
    assert "output to picture" in text and "<b>2 × 3</b> cells" in text
    assert len(found.all("li")) - len(found.all("ul")) >= 4  # the maps without scripts
    save_view(view, tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == text


def test_one_page_holds_several_views():
    text = attention_html(captioned(), SMALL)
    assert len(Page(text).all("article", class_="attention")) == 2
    assert [len(data["output"]["tokens"]) for data in embedded(text)] == [4, 3]
    assert "Lines of less than" in text and "In the middle of a cell" in text


def test_many_tokens_and_a_tall_picture_stay_apart():
    view = captioned()
    long = captioned(
        tokens=("word",) * 30,
        attention=view.attention[:1] * 30,
        words=None,
        next_best=None,
        probabilities=None,
        text="word",
    )
    layout = lay_out_tiles(long, long.image)
    corners = {(tile.x, tile.y) for tile in layout.tiles}
    assert len(corners) == 31
    assert max(x for x, _ in corners) + layout.tile_width <= layout.width
    assert max(y for _, y in corners) + layout.tile_height <= layout.height
