"""What each token of a caption looked at, as a PNG, drawn to the same layout as the SVG."""

import io
from typing import Any

from regard.data.images.pillow import pillow
from regard.views.attention_view import AttentionView
from regard.views.drawing import Fonts, Pen, Sheet
from regard.views.labels import printable, visible
from regard.views.palette import MUTED
from regard.views.seen_image import SeenImage, light
from regard.views.tiles_layout import (
    LABEL,
    SMALL,
    THICKEST,
    VEIL,
    Tile,
    TilesLayout,
    lay_out_tiles,
)


def tiles_png(view: AttentionView, image: SeenImage, *, scale: float = 2.0) -> bytes:
    """A view as PNG bytes, `scale` pixels a unit of the layout."""
    layout = lay_out_tiles(view, image)
    labels = [visible(token) for token in view.tokens]
    fonts = Fonts.of([*labels, printable(view.title)])
    sheet = Sheet(layout.width, layout.height, scale)
    pen = Pen(sheet.axes, sheet.scale, fonts.families)
    if layout.heading:
        pen.write_heading(fonts.coded(layout.heading), layout.heading_size)
    pixels = _pixels(image, layout, sheet.scale)
    for tile in layout.tiles:
        _draw(sheet, layout, tile, _lit(pixels, image, tile))
        label = fonts.coded(visible(tile.label)) if tile.label else ""
        pen.write(tile.x, tile.y - LABEL * 0.4, label, LABEL)
        pen.write(tile.x, tile.y + layout.tile_height + SMALL * 1.3, tile.note, SMALL, MUTED)
    return sheet.png()


def _pixels(image: SeenImage, layout: TilesLayout, scale: float) -> Any:
    """The picture at the size of a tile, `[height, width, 3]`, from 0 to 1."""
    import numpy as np

    size = (round(layout.tile_width * scale) or 1, round(layout.tile_height * scale) or 1)
    opened = pillow().open(io.BytesIO(image.data)).convert("RGB").resize(size)
    return np.asarray(opened, dtype=np.float64) / 255


def _lit(pixels: Any, image: SeenImage, tile: Tile) -> Any:
    """The picture under the veil of a tile."""
    import numpy as np

    if tile.weights is None:
        return pixels
    height, width, _ = pixels.shape
    veil = np.array([int(VEIL[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    opacity = THICKEST * (1 - light(image, tile.weights, width, height))[..., None]
    return pixels * (1 - opacity) + veil * opacity


def _draw(sheet: Sheet, layout: TilesLayout, tile: Tile, pixels: Any) -> None:
    right, bottom = tile.x + layout.tile_width, tile.y + layout.tile_height
    extent = (tile.x, right, bottom, tile.y)
    sheet.axes.imshow(pixels, extent=extent, aspect="auto", interpolation="nearest")
