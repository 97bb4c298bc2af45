"""A caption as a view: the picture, and where each token looked."""

from __future__ import annotations

from math import exp
from pathlib import Path
from typing import TYPE_CHECKING

from regard.views.attention_view import AttentionView
from regard.views.seen_image import SeenImage, keep_image

if TYPE_CHECKING:
    from regard.data.images.backbone import Backbone
    from regard.evaluation.captioning import Caption


def caption_view(image: str | Path, caption: Caption, backbone: Backbone) -> AttentionView:
    """What a model made of an image, as `regard.Model.caption` gives it.

    backbone: of that model (`needed_backbone()`). Raises UserError for an image that cannot be
    read; ValueError for a caption without attention.
    """
    from regard.data.images.reading import read_image

    if not caption.attention:
        raise ValueError("this caption has no attention")
    picture = read_image(Path(image))
    rows, columns = len(caption.attention[0]), len(caption.attention[0][0])
    seen = keep_image(picture, backbone.covered(*picture.size), rows, columns)
    return seen_caption_view(str(image), seen, caption)


def seen_caption_view(name: str, seen: SeenImage, caption: Caption) -> AttentionView:
    """The same of an image that was read before, by whatever name."""
    return AttentionView(
        source=name,
        text=caption.text,
        source_tokens=seen.cell_names(),
        tokens=caption.tokens,
        attention=tuple(
            tuple(weight for row in each for weight in row) for each in caption.attention
        ),
        score=caption.score,
        probabilities=tuple(map(exp, caption.token_scores)),
        steps=caption.steps or None,
        ponder=caption.ponder or None,
        words=caption.words,
        image=seen,
    )
