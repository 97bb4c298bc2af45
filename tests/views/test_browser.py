"""The page's program, run by a real browser: skipped where there is no Chromium."""

import re
import shutil
import subprocess

import pytest

from regard.views import attention_html

from .examples import HOSTILE, PONDERED, RIGHT_TO_LEFT, SMALL, square
from .test_page_html import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium to show the page"),
]


def show(tmp_path, view, script=""):
    """The page as the browser has it after `script` ran, and what the browser complained about."""
    path = tmp_path / "page.html"
    program = f"<script>setTimeout(() => {{ {script} }}, 200)</script></body>"
    path.write_text(attention_html(view).replace("</body>", program), encoding="utf-8")
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--enable-logging=stderr",
        "--window-size=1000,900",
        "--virtual-time-budget=2000",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
        path.as_uri(),
    ]
    result = subprocess.run(command, capture_output=True, timeout=120)
    complaints = re.findall(r"CONSOLE.*", result.stderr.decode("utf-8", "replace"))
    return Page(result.stdout.decode("utf-8")), complaints


def readout(found):
    """The line under the picture: its own text and that of the elements inside, in order."""
    start = next(i for i, e in enumerate(found.elements) if e.get("class") == "readout")
    parts = [found.elements[start]["text"]]
    parts += [e["text"] for e in found.elements[start + 1 :] if e["tag"] in ("b", "bdi")]
    return parts


def active(found, side):
    groups = {"source": 0, "output": 1}
    counts = (len(SMALL.source_tokens), len(SMALL.tokens))
    tokens = found.all("button")
    own = tokens[: counts[0]] if groups[side] == 0 else tokens[counts[0] :]
    return [token["text"] for token in own if "active" in token["class"]]


def threads(found):
    return [e for e in found.elements if e["tag"] == "path" and "--strength" in e.get("style", "")]


def token(side, index):
    return f'document.querySelectorAll(".tokens.{side} .token")[{index}]'


def test_threads_are_drawn_for_every_weight_that_can_be_seen(tmp_path):
    found, complaints = show(tmp_path, SMALL)
    assert not complaints
    assert len(threads(found)) == 7
    assert found.all("div", class_="bridge rows")
    assert "Point at a token" in readout(found)[0]


def test_pointing_at_an_output_token_shows_its_row(tmp_path):
    event = 'dispatchEvent(new PointerEvent("pointerenter"))'
    found, complaints = show(tmp_path, SMALL, f"{token('output', 1)}.{event}")
    assert not complaints
    assert active(found, "output") == ["Hund"]
    assert active(found, "source") == []
    weights = [re.search(r"--weight: ([\d.]+)", e["style"])[1] for e in found.all("button")[:3]]
    assert [float(weight) for weight in weights] == [0.2, 0.7, 0.1]
    assert sum(e.get("class") == "active" for e in threads(found)) == 3
    (crosshair,) = found.all("rect", class_="crosshair")
    assert (float(crosshair["width"]), float(crosshair["height"])) == (120, 40)
    line = readout(found)
    assert line[0] == " attends to  0.70,  0.20,  0.10; its probability: 0.250"
    assert [text for text in line[1:] if text] == ["Hund", "dog", "a", "</s>"]


def test_the_keyboard_moves_keeps_and_lets_go(tmp_path):
    def press(key):
        options = f'{{key: "{key}", bubbles: true, cancelable: true}}'
        return f'document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {options}));'

    start = f"{token('source', 0)}.focus();"
    moved, complaints = show(tmp_path, SMALL, start + press("ArrowRight"))
    assert not complaints
    assert active(moved, "source") == ["dog"]
    assert [e["tabindex"] for e in moved.all("button")[:3]] == ["-1", "0", "-1"]
    across, _ = show(tmp_path, SMALL, start + press("ArrowRight") + press("ArrowDown"))
    assert active(across, "output") == ["Hund"]  # the one that looked at "dog" the most
    click, blur = "document.activeElement.click();", "document.activeElement.blur();"
    kept, _ = show(tmp_path, SMALL, start + click + blur)
    assert active(kept, "source") == ["a"]
    gone, _ = show(tmp_path, SMALL, start + click + press("Escape") + blur)
    assert active(gone, "source") == []


def test_a_cell_shows_both_its_tokens_right_to_left_too(tmp_path):
    script = """
        const map = document.querySelector("svg.heatmap"), frame = map.getBoundingClientRect();
        const { left, top, cell } = map.dataset;
        map.dispatchEvent(new PointerEvent("pointermove", {
          clientX: frame.left + Number(left) + Number(cell) * 0.5,
          clientY: frame.top + Number(top) + Number(cell) * 1.5 }));
    """
    found, complaints = show(tmp_path, RIGHT_TO_LEFT, script)
    assert not complaints
    line = readout(found)
    assert line[0].endswith(": 0.7500")  # the leftmost column is the last source token
    assert [text for text in line[1:] if text] == ["بالعالم", "עולם"]


def test_steps_are_told_and_are_no_part_of_a_name(tmp_path):
    found, complaints = show(tmp_path, PONDERED, f"{token('output', 1)}.focus()")
    assert not complaints
    line = readout(found)
    assert line[0].endswith("probability: 0.250; it took 8 steps (8.50 with the remainder)")
    assert [text for text in line[1:] if text] == ["Hund", "dog", "a", "</s>"]
    found, _ = show(tmp_path, PONDERED, f"{token('source', 1)}.focus()")
    assert readout(found)[0].endswith("; it took 1 step (2.00 with the remainder)")


def test_long_texts_stand_in_columns(tmp_path):
    found, complaints = show(tmp_path, square(40))
    assert not complaints
    assert found.all("div", class_="bridge columns")
    assert len(threads(found)) == 40


def test_hostile_text_runs_nothing_and_loads_nothing(tmp_path):
    found, complaints = show(tmp_path, HOSTILE, f"{token('output', 0)}.focus()")
    assert not complaints
    assert not found.all("img")
    assert readout(found)[0].startswith(" attends to  1.00")
