"""Pictures that were looked at: what is kept of them, and how bright maps make them."""

import io

import numpy as np
import pytest
from PIL import Image

from regard.views import AttentionView, keep_image
from regard.views.seen_image import LONGEST_SIDE, light


def drawing(width=60, height=40):
    image = Image.new("RGB", (width, height), (200, 210, 220))
    image.paste((220, 30, 40), (5, 5, width // 2, height // 2))
    return image


def photo(width, height):
    random = np.random.default_rng(1)
    return Image.fromarray(random.integers(0, 255, (height, width, 3), dtype=np.uint8))


def test_drawings_stay_as_they_are_and_photos_become_small():
    seen = keep_image(drawing(), (0, 0, 60, 40), 2, 3)
    assert (seen.kind, seen.width, seen.height) == ("png", 60, 40)
    opened = Image.open(io.BytesIO(seen.data))
    assert np.array_equal(np.array(opened), np.array(drawing()))
    assert seen.uri.startswith("data:image/png;base64,")
    large = keep_image(photo(1600, 400), (0, 0, 1600, 400), 2, 2)
    assert (large.kind, large.width, large.height) == ("jpeg", 1600, 400)
    assert Image.open(io.BytesIO(large.data)).size == (LONGEST_SIDE, LONGEST_SIDE // 4)


def test_a_pixel_in_the_middle_of_a_cell_has_its_weight_over_the_largest():
    seen = keep_image(drawing(), (0, 0, 60, 40), 2, 3)
    weights = np.array([0.1, 0.2, 0.05, 0.4, 0.15, 0.1])
    bright = light(seen, weights, 15, 10)  # 5 by 5 pixels a cell
    assert bright.shape == (10, 15)
    assert bright[2::5, 2::5] == pytest.approx(weights.reshape(2, 3) / 0.4)
    between = (bright[2, 2] + bright[2, 7]) / 2  # pixels 4 and 5 lie around the border
    assert (bright[2, 4] + bright[2, 5]) / 2 == pytest.approx(between)
    assert bright[0, 0] == pytest.approx(0.25)  # beyond the outermost middles it stays
    assert bright.max() == pytest.approx(1) and bright.min() >= 0.05 / 0.4 - 1e-12


def test_what_the_grid_does_not_cover_is_dark_and_no_attention_lights_nothing():
    cropped = keep_image(drawing(60, 40), (20, 10, 40, 30), 1, 1)
    bright = light(cropped, [1.0], 60, 40)
    assert (bright[10:30, 20:40] == 1).all() and bright.sum() == 20 * 20
    padded = keep_image(drawing(60, 40), (0, -10, 60, 50), 3, 3)  # bars above and below
    rows = light(padded, [1, 1, 1, 0, 0, 0, 0, 0, 0], 60, 40)[:, 0]
    assert rows[0] == pytest.approx(1 - 0.5 / 20, abs=1e-9) and (np.diff(rows) <= 0).all()
    assert (light(padded, [0.0] * 9, 6, 4) == 0).all()


def test_boxes_of_cells_are_cut_where_the_picture_ends():
    padded = keep_image(drawing(60, 40), (0, -10, 60, 50), 3, 3)
    assert padded.cell_box(0) == (0, 0, 20, 10)
    assert padded.cell_box(4) == (20, 10, 40, 30)
    outside = keep_image(drawing(60, 20), (0, -20, 60, 40), 3, 3)
    assert outside.cell_box(0) is None and outside.cell_box(3) == (0, 0, 20, 20)
    assert padded.cell_names()[4] == "row 2, column 2"


def test_source_tokens_of_a_picture_are_its_cells():
    seen = keep_image(drawing(), (0, 0, 60, 40), 1, 2)
    with pytest.raises(ValueError, match=r"1 by 2 cells should be its cell_names"):
        AttentionView("a.png", "red", ("a", "b"), ("red",), [[0.5, 0.5]], image=seen)
