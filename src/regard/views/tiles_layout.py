"""Where everything goes in a picture of a caption: a tile for each token, in pixels."""

from dataclasses import dataclass
from math import ceil, sqrt

from regard.views.attention_view import AttentionView
from regard.views.labels import printable, shortened
from regard.views.seen_image import SeenImage

TILE = 150.0  # the longer side of each picture
LABEL, SMALL = 14.0, 11.0
VEIL = "#0b0d12"
#: How much of the picture the veil hides where nothing was attended to.
THICKEST = 0.8
_MARGIN, _GAP, _HEADING = 16.0, 12.0, 16.0
_MOST_ACROSS = 6


@dataclass(frozen=True)
class Tile:
    """One picture. x, y: its upper left corner; label above it, note below.

    weights: what is lit; None for the picture as it is.
    """

    x: float
    y: float
    label: str
    note: str
    weights: tuple[float, ...] | None


@dataclass(frozen=True)
class TilesLayout:
    """Tiles of one size in rows, below a heading; heading_size: 0 without one."""

    width: float
    height: float
    tile_width: float
    tile_height: float
    tiles: tuple[Tile, ...]
    heading: str
    heading_size: float


def lay_out_tiles(view: AttentionView, image: SeenImage) -> TilesLayout:
    """The picture as it is, then a tile for each token with what it looked at."""
    scale = TILE / max(image.width, image.height)
    wide, high = image.width * scale, image.height * scale
    count = len(view.tokens) + 1
    across = min(_MOST_ACROSS, ceil(sqrt(count)), count)
    title = printable(view.title)
    heading_size = _HEADING if title else 0.0
    top = _MARGIN + heading_size * 1.8
    step_x, step_y = max(wide, TILE * 0.7) + _GAP, high + LABEL * 1.5 + SMALL * 1.5 + _GAP

    def tile(place: int, label: str, note: str, weights: tuple[float, ...] | None) -> Tile:
        row, column = divmod(place, across)
        x, y = _MARGIN + column * step_x, top + row * step_y + LABEL * 1.5
        return Tile(x, y, shortened(label, step_x / LABEL), note, weights)

    tiles = [tile(0, "", f"{image.rows} × {image.columns} cells", None)]
    for at, token in enumerate(view.tokens):
        weights = view.attention[at]
        tiles.append(tile(at + 1, token, _note(view, at, weights), weights))
    width = _MARGIN * 2 + across * step_x - _GAP
    return TilesLayout(
        width=width,
        height=top + ceil(count / across) * step_y - _GAP + _MARGIN,
        tile_width=wide,
        tile_height=high,
        tiles=tuple(tiles),
        heading=shortened(title, (width - 2 * _MARGIN) / _HEADING),
        heading_size=heading_size,
    )


def _note(view: AttentionView, at: int, weights: tuple[float, ...]) -> str:
    """How large the largest weight is, and how probable the token was, where that is known."""
    largest = f"≤ {max(weights):.2f}"
    if view.probabilities is None:
        return largest
    return f"{largest}, p {view.probabilities[at]:.2f}"
