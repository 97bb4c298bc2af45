"""Pairs: what a captioning model is trained and measured on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regard.data.captions.data import CaptionData
from regard.data.pairs import Pair, Pairs
from regard.data.pictures import Picture

if TYPE_CHECKING:
    from regard.data.images.grids import Grids


def caption_pairs(data: CaptionData, grids: Grids) -> Pairs:
    """A pair for each caption: its source names the image, whose grid is its picture.

    grids: those of the images of `data`, in their order.
    """
    pairs = tuple(
        Pair(str(example.identifier), caption, picture=Picture(grids, number))
        for number, example in enumerate(data)
        for caption in example.captions
    )
    return Pairs(pairs, data.origin, data.blank)
