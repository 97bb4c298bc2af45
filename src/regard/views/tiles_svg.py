"""What each token of a caption looked at, as an SVG: the picture again and again, lit there."""

import io
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from regard.data.images.pillow import pillow
from regard.views.attention_view import AttentionView
from regard.views.heatmap_svg import number, rectangle
from regard.views.labels import printable, visible
from regard.views.palette import INK, MUTED, PAPER, SANS
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

_PIXELS = 120  # at the longer side of a veil, which is stretched over the picture
_LEAST = 0.0005  # a cell of less has no tooltip


def tiles_svg(view: AttentionView, image: SeenImage) -> str:
    """A whole SVG document; the weights of cells are in their tooltips."""
    layout = lay_out_tiles(view, image)
    size = f'width="{number(layout.width)}" height="{number(layout.height)}"'
    box = f"0 0 {number(layout.width)} {number(layout.height)}"
    said = f"What each token of “{printable(view.text)}” looked at in {printable(view.source)}"
    return "".join(
        (
            '<?xml version="1.0" encoding="UTF-8"?>\n',
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="{box}" role="img" '
            f"aria-label={quoteattr(said)}>\n",
            f'<rect {size} fill="{PAPER}"/>\n',
            f'<g font-family="{SANS}" font-size="{number(LABEL)}" fill="{INK}">\n',
            *_heading(layout),
            f'<defs><image id="picture" {_place(layout)} preserveAspectRatio="none" '
            f'href="{image.uri}"/></defs>\n',
            *(part for each in layout.tiles for part in _tile(each, layout, image)),
            "</g>\n</svg>\n",
        )
    )


def _heading(layout: TilesLayout) -> Iterator[str]:
    if layout.heading:
        yield (
            f'<text x="16" y="{number(16 + layout.heading_size)}" font-weight="600" '
            f'font-size="{number(layout.heading_size)}">{escape(layout.heading)}</text>\n'
        )


def _place(layout: TilesLayout) -> str:
    return rectangle(0, 0, layout.tile_width, layout.tile_height)


def _tile(tile: Tile, layout: TilesLayout, image: SeenImage) -> Iterator[str]:
    yield f'<g transform="translate({number(tile.x)} {number(tile.y)})">'
    label = escape(visible(tile.label)) if tile.label else ""
    yield f'<text y="{number(-LABEL * 0.4)}">{label}</text>'
    yield '<use href="#picture"/>'
    if tile.weights is not None:
        veil = f'href="{_veil_uri(image, tile.weights)}" preserveAspectRatio="none"'
        yield f'<image class="veil" {_place(layout)} {veil}/>\n'
        yield from _tooltips(tile, layout, image)
    y = number(layout.tile_height + SMALL * 1.3)
    looks = f'font-size="{number(SMALL)}" fill="{MUTED}"'
    yield f'<text y="{y}" {looks}>{escape(tile.note)}</text></g>\n'


def _tooltips(tile: Tile, layout: TilesLayout, image: SeenImage) -> Iterator[str]:
    scale = layout.tile_width / image.width
    yield '<g fill-opacity="0" class="cells">'
    for cell, (name, weight) in enumerate(zip(image.cell_names(), tile.weights or (), strict=True)):
        box = image.cell_box(cell)
        if box is None or weight < _LEAST:
            continue
        left, top, right, bottom = (edge * scale for edge in box)
        said = f"{visible(tile.label)} ← {name}: {weight:.4f}"
        place = rectangle(left, top, right - left, bottom - top)
        yield f"<rect {place}><title>{escape(said)}</title></rect>\n"
    yield "</g>"


def _veil_uri(image: SeenImage, weights: tuple[float, ...]) -> str:
    """A dark picture, the more transparent the more was attended to, as a `data:` address."""
    scale = _PIXELS / max(image.width, image.height)
    width, height = (max(1, round(side * scale)) for side in (image.width, image.height))
    buffer = io.BytesIO()
    _veil(light(image, weights, width, height)).save(buffer, format="PNG", optimize=True)
    kept = SeenImage(buffer.getvalue(), "png", width, height, image.covered, 1, 1)
    return kept.uri


def _veil(bright: Any) -> Any:
    import numpy as np

    opacity = np.rint(255 * THICKEST * (1 - bright)).astype(np.uint8)
    veil = pillow().new("RGBA", opacity.shape[::-1], VEIL)
    veil.putalpha(pillow().fromarray(opacity))
    return veil
