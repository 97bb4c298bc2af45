"""A caption's page in a real browser: the picture and where each token looked, beside Python's."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from regard.views import attention_html
from regard.views.seen_image import light
from regard.views.tiles_layout import THICKEST

from .examples import captioned
from .reading import DECODER, PIXELS, active, readout, table

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

CROSS, ENCODER = "Output to picture (cross-attention)", "Picture to itself (encoder)"
TOKEN = ".tokens.rows .token:nth-child({})"


def veil(browser, canvas=".scene canvas"):
    """How opaque each pixel of a canvas is, `[height, width]`, 0 to 255."""
    high, wide = browser.run(f"const at = one('{canvas}'); return [at.height, at.width]")
    alpha = browser.run(PIXELS + "return [...pixels(one(arguments[0]))]", canvas)[3::4]
    return np.array(alpha).reshape(high, wide)


def expected(view, weights, high=240, wide=480):
    return 255 * THICKEST * (1 - light(view.image, np.ravel(weights), wide, high))


def over(browser, row, column):
    """Where a cell's middle is in the picture, as it is shown."""
    box = browser.run(
        "const at = one('.scene canvas').getBoundingClientRect(); return [at.width, at.height]"
    )
    return (column + 0.5) / 3 * box[0], (row + 0.5) / 2 * box[1]


def test_the_token_under_the_pointer_lights_the_picture(browser):
    view = captioned()
    browser.open(attention_html(view))
    assert readout(browser).startswith("Point at a token, or at a place in the picture")
    assert (veil(browser) == 0).all()  # nothing is pointed at: the picture as it is
    assert browser.run("return one('.scene img').naturalWidth") == 120
    for row in (2, 0):
        browser.point(TOKEN.format(row + 1))
        assert active(browser, "rows") == [view.tokens[row]]
        assert np.abs(veil(browser) - expected(view, view.attention[row])).max() <= 1
    best = int(np.argmax(view.attention[0]))
    name, largest = view.image.cell_names()[best], view.attention[0][best]
    assert readout(browser).startswith(f"a attends to {name} {largest:.2f}")
    assert readout(browser).endswith("its probability: 1.000")
    browser.point("h1")
    assert (veil(browser) == 0).all() and active(browser, "rows") == []


def test_every_token_has_a_small_picture(browser):
    view = captioned()
    browser.open(attention_html(view))
    assert browser.run("return all('.tile').length") == 4
    shown = np.array(browser.run(PIXELS + "return [...pixels(one('.tile'))]")).reshape(60, 120, 4)
    plain = np.full((60, 120, 3), (212, 220, 228))
    plain[5:25, 45:75] = (220, 38, 44)
    opacity = expected(view, view.attention[0], 60, 120)[..., None] / 255
    drawn = plain * (1 - opacity) + np.array([0x0B, 0x0D, 0x12]) * opacity
    assert np.abs(shown[..., :3] - drawn).max() <= 3


def test_a_place_in_the_picture_tells_who_looked_there(browser):
    view = captioned()
    browser.open(attention_html(view))
    browser.point(".scene canvas", *over(browser, 1, 2))
    weights = [row[5] for row in view.attention]
    heaviest = view.tokens[int(np.argmax(weights))]
    said = f"row 2, column 3 is attended to by {heaviest} {max(weights):.2f}"
    assert readout(browser).startswith(said)
    tints = browser.run(
        "return all('.tokens.rows .token').map((e) => +e.style.getPropertyValue('--weight'))"
    )
    assert tints == pytest.approx(weights, abs=6e-4)
    outline = veil(browser)
    assert outline[:118].max() == 0 and outline[120:, 318:].max() == 255
    browser.point("h1")
    assert (veil(browser) == 0).all()


def test_a_click_keeps_a_token_and_places_tell_its_weights(browser):
    view = captioned()
    browser.open(attention_html(view))
    browser.click(TOKEN.format(2))
    browser.run("document.activeElement.blur()")
    browser.point("h1")
    assert np.abs(veil(browser) - expected(view, view.attention[1])).max() <= 1
    browser.point(".scene canvas", *over(browser, 0, 1))
    assert readout(browser) == f"red attends to row 1, column 2: {view.attention[1][1]:.4f}"
    browser.click(".scene canvas", *over(browser, 0, 1))
    browser.point("h1")
    assert readout(browser) == f"red attends to row 1, column 2: {view.attention[1][1]:.4f}"
    browser.press("Escape")
    assert (veil(browser) == 0).all() and active(browser, "rows") == []


def test_keys_reach_tokens_and_places(browser):
    view = captioned()
    browser.open(attention_html(view))
    browser.run("one('.tokens.rows .token').focus()")
    browser.press("ArrowRight", "ArrowRight")
    assert active(browser, "rows") == ["square"]
    browser.press("ArrowDown")  # into the picture, where it looked most
    weights = view.attention[2]
    best = int(np.argmax(weights))
    names = view.image.cell_names()
    assert readout(browser) == f"square attends to {names[best]}: {weights[best]:.4f}"
    row, column = divmod(best, 3)
    browser.press("ArrowUp" if row else "ArrowDown")
    best = (1 - row) * 3 + column
    assert readout(browser) == f"square attends to {names[best]}: {weights[best]:.4f}"
    browser.press("Enter")
    browser.run("document.activeElement.blur()")
    assert active(browser, "rows") == ["square"]
    browser.run("one('.scene canvas').focus()")
    browser.press("Escape", "ArrowDown", "ArrowRight")
    assert readout(browser).startswith("row 1, column 2 is attended to by")


def test_every_kind_layer_and_head_is_what_python_has(browser):
    view = captioned(layers=2, opens_at=(1, 2))
    browser.open(attention_html(view))
    assert browser.options("attention") == [CROSS, ENCODER, DECODER]
    assert np.abs(table(browser)[2] - view.stacks[0].weights[0, 1]).max() < 1e-5  # where it opens
    for name, stack in zip((CROSS, ENCODER, DECODER), view.stacks, strict=True):
        browser.choose("attention", name)
        for layer, head in (("1", "1"), ("2", "mean of all 2")):
            browser.choose("layer", layer)
            browser.choose("head", head)
            weights = stack.weights[int(layer) - 1]
            weights = weights.mean(0) if "mean" in head else weights[int(head) - 1]
            columns, rows, found = table(browser)
            assert np.abs(found - weights).max() < 1e-5
        shown = browser.run(
            "return ['.scene', '.map', '.bridge'].map((each) => one(each).offsetWidth > 0)"
        )
        assert shown == [name != DECODER, name == DECODER, name != ENCODER]
        assert len(rows) == (6 if name == ENCODER else 4)
    assert columns == ["<s>", "a", "red", "square"]
    assert rows == list(view.tokens)


def test_a_place_lights_what_it_attends_to_itself(browser):
    view = captioned(layers=1)
    browser.open(attention_html(view))
    browser.choose("attention", ENCODER)
    browser.choose("head", "2")
    browser.point(".scene canvas", *over(browser, 1, 0))
    weights = view.stacks[1].weights[0, 1, 3]
    found, bright = veil(browser), expected(view, weights)
    inside = np.ones_like(found, dtype=bool)
    inside[115:, :165] = False  # its outline
    assert np.abs(found - bright)[inside].max() <= 1
    assert readout(browser).startswith("row 2, column 1 attends to row")


def test_what_is_seen_is_saved(browser):
    view = captioned()
    browser.open(
        attention_html(
            view,
        )
    )
    root = ET.fromstring(browser.save("SVG").decode("utf-8"))
    svg = "{http://www.w3.org/2000/svg}"
    labels = [each.text for each in root.iter(f"{svg}text")]
    assert [label for label in labels if label in view.tokens] == list(view.tokens)
    assert len(list(root.iter(f"{svg}use"))) == 5
    picture = Image.open(io.BytesIO(browser.save("PNG"))).convert("RGB")
    colors = {color for _, color in picture.getcolors(2**24)}
    assert (220, 38, 44) in colors  # the picture inside the picture is there
    columns, rows, weights = table(browser)
    assert columns == list(view.image.cell_names()) and rows == list(view.tokens)
    assert np.abs(weights - np.array(view.attention)).max() < 1e-5


def test_a_narrow_window_shows_everything(browser):
    browser.driver.set_window_size(500, 900)
    try:
        browser.open(attention_html(captioned()), dark=True)
        wide = browser.run("return document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
        assert browser.run("return one('.scene img').offsetWidth") > 200
    finally:
        browser.driver.set_window_size(1200, 1000)
