"""Several of regard's heat maps in one SVG, side by side, each under its heading."""

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from regard.views import AttentionView
from regard.views.heatmap_svg import inline_svg
from regard.views.palette import INK, PAPER, SANS

_HEADING = 30.0  # room above each
_GAP = 12.0


def panels(
    views: Sequence[tuple[str, AttentionView]],
    *,
    columns: int = 2,
    width: float = 460.0,
    about: str,
) -> str:
    """Views with their headings, ``columns`` in a row, each ``width`` wide.

    about: what the picture is, for whoever does not see it.
    """
    drawn = [(heading, *_sized(inline_svg(view), width)) for heading, view in views]
    tallest = max(height for _, _, height in drawn) + _HEADING
    rows = -(-len(drawn) // columns)
    whole_width = columns * width + (columns - 1) * _GAP
    size = f'width="{whole_width:g}" height="{rows * tallest:g}"'
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>\n',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {whole_width:g} '
        f'{rows * tallest:g}" role="img" aria-label={quoteattr(about)}>\n',
        f'<rect {size} fill="{PAPER}"/>\n',
    ]
    for number, (heading, svg, _) in enumerate(drawn):
        x, y = number % columns * (width + _GAP), number // columns * tallest
        parts.append(
            f'<text x="{x + 16:g}" y="{y + 22:g}" font-family="{SANS}" font-size="15" '
            f'font-weight="600" fill="{INK}">{escape(heading)}</text>\n'
            f'<g transform="translate({x:g} {y + _HEADING:g})">{svg}</g>\n'
        )
    return "".join([*parts, "</svg>\n"])


def _sized(svg: str, width: float) -> tuple[str, float]:
    """A heat map ``width`` wide, and the height that it then has."""
    found = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg)
    assert found is not None
    height = width * float(found[2]) / float(found[1])
    return svg.replace(found[0], f'width="{width:g}" height="{height:g}"', 1), height
