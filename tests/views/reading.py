"""What a browser shows of a page, read off it."""

import csv
import io

import numpy as np

CROSS = "Output to source (cross-attention)"
ENCODER = "Source to source (encoder)"
DECODER = "Output to what came before (decoder)"


def table(browser):
    """What is seen, as saved: labels of columns, labels of rows, weights."""
    rows = list(csv.reader(io.StringIO(browser.save("CSV").decode("utf-8"), newline="")))
    weights = np.array([[float(value) for value in row[1:]] for row in rows[1:]])
    return rows[0][1:], [row[0] for row in rows[1:]], weights


def tokens(side):
    return f"return all('.tokens.{side} .token').map((each) => each.firstChild.textContent)"


def active(browser, side):
    return browser.run(f"return all('.tokens.{side} .active').map((e) => e.firstChild.textContent)")


def readout(browser):
    return browser.run("return text('.readout')")


PIXELS = """
const pixels = (picture) => {
  const copy = document.createElement("canvas");
  copy.width = picture.width;
  copy.height = picture.height;
  const context = copy.getContext("2d");
  context.drawImage(picture, 0, 0);
  return context.getImageData(0, 0, copy.width, copy.height).data;
};
"""


def inked(browser, canvas):
    """How many pixels of a canvas are drawn on."""
    return browser.run(
        PIXELS
        + "return pixels(one(arguments[0])).filter((each, i) => i % 4 === 3 && each > 40).length",
        canvas,
    )


def cell(browser, row, place):
    """Where the middle of a cell of 34 pixels is on the heat map."""
    wide, high = browser.run(
        "const at = one('.map > div'); return [at.offsetWidth, at.offsetHeight]"
    )
    rows, columns = (len(browser.run(tokens(side))) for side in ("rows", "columns"))
    left, top = wide - 1 - 34 * columns, high - 1 - 34 * rows
    return left + (place + 0.5) * 34, top + (row + 0.5) * 34
