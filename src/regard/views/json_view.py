"""Attention as JSON, under the names that `translate --json` uses."""

import json
import re
from typing import Any

from regard.views.attention_view import AttentionView
from regard.views.seen_image import SeenImage

_SURROGATES = re.compile("[\ud800-\udfff]")


def attention_json(view: AttentionView) -> str:
    """A view as one JSON object in UTF-8 text, ended by a line feed.

    `text`, `score`, `tokens`, `source_tokens`, `attention`, `alignment` and `nbest` are those of
    `translate --json` (`nbest` holds the one text shown); `source` is beside them, and `title`,
    `token_probabilities`, `source_steps`, `source_ponder`, `steps` and `ponder` where the view has
    them. Characters outside ASCII stand as they are.

    Of a picture the names are those of `caption --json`: `image` in place of `source`, and
    `attention` as `[tokens][rows][columns]`. `size` is its width and height, and `covered` left,
    top, right, bottom of what the grid covers, in pixels.
    """
    return dumps(_as_dict(view)) + "\n"


def dumps(data: Any) -> str:
    """JSON that UTF-8 can hold: lone surrogates are escaped, other characters are not."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return _SURROGATES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def dumps_for_script(data: Any) -> str:
    """JSON that may stand inside a `<script>` element: nothing in it can end or open a tag."""
    text = dumps(data)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _as_dict(view: AttentionView) -> dict[str, Any]:
    data: dict[str, Any] = {
        "source" if view.image is None else "image": view.source,
        "text": view.text,
        "score": view.score,
        "tokens": view.tokens,
        **(_read_text(view) if view.image is None else _read_image(view, view.image)),
        "nbest": [{"text": view.text, "score": view.score}],
    }
    if view.title:
        data["title"] = view.title
    if view.probabilities is not None:
        data["token_probabilities"] = view.probabilities
    for name in ("source_steps", "source_ponder", "steps", "ponder"):
        if getattr(view, name) is not None:
            data[name] = getattr(view, name)
    return data


def _read_text(view: AttentionView) -> dict[str, Any]:
    return {
        "source_tokens": view.source_tokens,
        "attention": view.attention,
        "alignment": view.alignment,
    }


def _read_image(view: AttentionView, image: SeenImage) -> dict[str, Any]:
    starts = range(0, image.rows * image.columns, image.columns)
    return {
        "size": (image.width, image.height),
        "covered": image.covered,
        "attention": [[row[at : at + image.columns] for at in starts] for row in view.attention],
    }
