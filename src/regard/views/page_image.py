"""The parts of a page that show a picture: with scripts its veil, without them a map a token."""

from collections.abc import Iterator
from html import escape
from typing import Any

from regard.views.attention_view import AttentionView
from regard.views.heatmap_svg import number
from regard.views.labels import printable, visible
from regard.views.palette import ACCENT, EMPTY
from regard.views.seen_image import SeenImage
from regard.views.tiles_layout import THICKEST, VEIL


def scene_element(name: str, image: SeenImage) -> str:
    """The picture, and what a script draws over it."""
    return (
        f'<div class="scene"><img src="{image.uri}" alt="{escape(printable(name))}" '
        f'width="{image.width}" height="{image.height}">'
        '<canvas role="application"></canvas></div>'
    )


def image_data(image: SeenImage) -> dict[str, Any]:
    """What the page's script reads of a picture, which itself is an element of the page."""
    return {
        "rows": image.rows,
        "columns": image.columns,
        "width": image.width,
        "height": image.height,
        "covered": image.covered,
        "veil": VEIL,
        "thickest": THICKEST,
    }


def maps_without_scripts(view: AttentionView, image: SeenImage) -> str:
    """The map of each token as squares, without the picture."""
    return f'<ol class="maps">\n{"".join(_maps(view, image))}</ol>'


def _maps(view: AttentionView, image: SeenImage) -> Iterator[str]:
    for token, weights in zip(view.tokens, view.attention, strict=True):
        largest = max(weights)
        squares = "".join(
            f'<rect x="{cell % image.columns}" y="{cell // image.columns}" width="1" height="1" '
            f'fill-opacity="{number(weight / largest, 3)}"/>'
            for cell, weight in enumerate(weights)
            if weight >= largest * 0.0005 and weight
        )
        yield (
            f'<li>{escape(visible(token))}<svg width="{image.columns * 10}" '
            f'height="{image.rows * 10}" viewBox="0 0 {image.columns} {image.rows}">'
            f'<rect width="{image.columns}" height="{image.rows}" fill="{EMPTY}" class="empty"/>'
            f'<g fill="{ACCENT}" class="weights">{squares}</g></svg></li>\n'
        )
