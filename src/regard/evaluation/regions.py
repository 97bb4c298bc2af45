"""Regions: whether a model's attention is at what the words of given captions name."""

from __future__ import annotations

from collections.abc import Sequence

from regard.data.scenes.region import Region
from regard.evaluation.captioning import Caption
from regard.evaluation.cells import Box
from regard.evaluation.pointing import Noun, PointedNoun, grade_nouns, phrase_tokens


def grade_regions(caption: Caption, regions: Sequence[Region], covered: Box) -> list[PointedNoun]:
    """Grade the nouns of a caption that regions belong to, by the attention of its words.

    covered: what the grid covers of the image, in its pixels. A region outside of that, which the
    model cannot see, is left out. Raises ValueError for regions of another caption.
    """
    left, top, right, bottom = covered
    size = (right - left, bottom - top)
    nouns = []
    for region in regions:
        x0, y0, x1, y1 = region.box
        box = (x0 - left, y0 - top, x1 - left, y1 - top)
        if min(box[2], size[0]) > max(box[0], 0) and min(box[3], size[1]) > max(box[1], 0):
            nouns.append(Noun(phrase_tokens(caption.words, region.phrase), box))
    return grade_nouns(caption.attention, nouns, size)
