"""Steps of adaptive computation time, in every form of a view."""

import json
from dataclasses import replace
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest

from regard.views import AttentionView, attention_html, attention_json, attention_png, attention_svg
from regard.views.heatmap_layout import STRIP, lay_out
from regard.views.palette import STEPS
from regard.views.steps_strip import short, steps_cells, steps_text

from .examples import PONDERED, RIGHT_TO_LEFT, SMALL, square
from .test_page_html import Page, embedded

SVG = "{http://www.w3.org/2000/svg}"
SOURCE_ALONE = replace(PONDERED, steps=None, ponder=None)
TURNED = replace(RIGHT_TO_LEFT, source_steps=(5, 1), steps=(1, 2, 3))


def test_cells_stand_with_their_tokens():
    for view in (PONDERED, TURNED):
        layout = lay_out(view)
        columns = len(view.source_tokens)
        cells = list(steps_cells(view, layout))
        assert len(cells) == columns + len(view.tokens)
        for index, cell in enumerate(cells[:columns]):
            assert (cell.x, cell.width) == (layout.column_left(index), layout.cell)
            assert layout.bottom < cell.y == layout.strip_top
            assert cell.y + cell.height < layout.legend_top
            assert cell.share == view.source_steps[index] / max(*view.source_steps, *view.steps)
        for index, cell in enumerate(cells[columns:]):
            assert (cell.y, cell.height) == (layout.row_top(index), layout.cell)
            assert layout.right < cell.x and cell.x + cell.width < layout.beside
            assert cell.figure == str(view.steps[index])
    assert next(steps_cells(TURNED, lay_out(TURNED))).x > lay_out(TURNED).left  # rightmost


def test_svg_and_what_it_says():
    root = ElementTree.fromstring(attention_svg(PONDERED))
    (strips,) = [group for group in root.iter(f"{SVG}g") if group.get("class") == "steps"]
    assert strips.get("fill") == STEPS
    said = [rect.find(f"{SVG}title").text for rect in strips]
    assert said == [
        "a: 2 steps (2.50 with the remainder)",
        "dog: 1 step (2.00 with the remainder)",
        "</s>: 4 steps (4.25 with the remainder)",
        "ein: 3 steps (3.12 with the remainder)",
        "Hund: 8 steps (8.50 with the remainder)",
        "</s>: 1 step (1.75 with the remainder)",
    ]
    shares = [float(rect.get("fill-opacity")) for rect in strips]
    assert shares == [0.25, 0.125, 0.5, 0.375, 1.0, 0.125]
    written = [element.text for element in root.iter(f"{SVG}text")]
    assert written.count("steps") == 2
    one_sided = ElementTree.fromstring(attention_svg(SOURCE_ALONE))
    assert [element.text for element in one_sided.iter(f"{SVG}text")].count("steps") == 1
    assert "steps" not in attention_svg(SMALL)


def test_png_has_their_shades():
    from matplotlib.image import imread

    layout = lay_out(PONDERED)
    image = imread(BytesIO(attention_png(PONDERED, scale=2)))[..., :3]
    assert image.shape[:2] == (int(layout.height * 2), int(layout.width * 2))
    full = np.array([int(STEPS[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    for cell in steps_cells(PONDERED, layout):
        seen = image[int((cell.y + 3) * 2), int((cell.x + 3) * 2)]
        assert np.abs(seen - (1 - cell.share + cell.share * full)).max() < 0.02, cell


def test_page_has_a_number_at_each_token():
    text = attention_html(PONDERED)
    (data,) = embedded(text)
    source, output = data["source"]["steps"], data["output"]["steps"]
    assert [each["short"] for each in (*source, *output)] == ["2", "1", "4", "3", "8", "1"]
    assert source[0]["said"] == "2 steps (2.50 with the remainder)"
    assert output[2]["said"] == "1 step (1.75 with the remainder)"
    facts = [element["text"] for element in Page(text).all("b")]
    assert facts[-2:] == ["2.3", "4.0"]  # their means
    assert "how many steps the model took" in text
    bare = attention_html(SMALL)
    assert "how many steps the model took" not in bare
    assert [embedded(bare)[0][side]["steps"] for side in ("source", "output")] == [None, None]


def test_json_has_the_names_of_translate():
    data, bare = json.loads(attention_json(PONDERED)), json.loads(attention_json(SMALL))
    assert {name: data[name] for name in data.keys() - bare.keys()} == {
        "source_steps": [2, 1, 4],
        "source_ponder": [2.5, 2.0, 4.25],
        "steps": [3, 8, 1],
        "ponder": [3.125, 8.5, 1.75],
    }


def test_small_cells_have_no_figures_and_all_stays_inside():
    for size in (3, 40, 120):
        steps = tuple(range(1, size + 1))
        view = replace(square(size), source_steps=steps, steps=steps, probabilities=(0.5,) * size)
        layout = lay_out(view)
        cells = list(steps_cells(view, layout))
        assert all(bool(cell.figure) == (size < 100) for cell in cells)
        assert layout.strip_left + STRIP < layout.beside < layout.width
        assert layout.strip_top + STRIP < layout.legend_top < layout.height
        ElementTree.fromstring(attention_svg(view))


def test_numbers_of_several_models_are_means():
    assert [short(number) for number in (1, 2.0, 2.5, 10 / 3)] == ["1", "2", "2.5", "3.3"]
    assert steps_text(1, None) == "1 step" and steps_text(1.5, 2.25).startswith("1.5 steps (2.25")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"steps": (1, 2)}, "2 steps for 1 tokens"),
        ({"ponder": ()}, "0 ponder for 1 tokens"),
        ({"source_steps": (1,)}, "1 source_steps for 2 source tokens"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        AttentionView("a b", "c", ["a", "b"], ["c"], [[0.5, 0.5]], **given)
