"""Saving a view in the format that the file's name asks for."""

from pathlib import Path

from regard.errors import UserError
from regard.files import write_bytes, write_text
from regard.views.attention_view import AttentionView
from regard.views.heatmap_png import attention_png
from regard.views.heatmap_svg import attention_svg
from regard.views.json_view import attention_json
from regard.views.page_html import attention_html
from regard.views.tiles_png import tiles_png
from regard.views.tiles_svg import tiles_svg

SUFFIXES = (".html", ".png", ".svg", ".json")


def check_suffix(path: Path) -> str:
    """The suffix of a path a view can be saved to, in lower case. UserError names those there are.

    Asked before the work, so that a wrong name costs nothing.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UserError(
            f"{path}: the name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        )
    return suffix


def save_view(view: AttentionView, path: Path) -> None:
    """Save a view as a page, a picture or data, by the suffix of `path`, whole or not at all.

    Raises UserError for any other suffix, and when the path cannot be written.
    """
    suffix, image = check_suffix(path), view.image
    if suffix == ".png":
        write_bytes(path, attention_png(view) if image is None else tiles_png(view, image))
    elif suffix == ".svg":
        write_text(path, attention_svg(view) if image is None else tiles_svg(view, image))
    else:
        render = {".html": attention_html, ".json": attention_json}[suffix]
        write_text(path, render(view))
