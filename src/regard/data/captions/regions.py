"""Regions: where in its image the nouns of a caption are, from a file of gold regions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.data.lines import read_lines
from regard.data.readers.json_values import (
    json_list,
    json_member,
    json_object,
    json_string,
    parse_json,
)
from regard.data.scenes.region import Region
from regard.errors import UserError

LINE = (
    'a line is {"image": "name.png", "word": 3, "noun": "star", "phrase": [0, 4], '
    '"box": [left, top, right, bottom], "center": [x, y]}'
)


def read_regions(path: Path) -> dict[str, tuple[Region, ...]]:
    """The regions of each image's nouns, by the name of the image, in the order of the file.

    A line is an object, as `regard scenes` writes it: see docs/formats.md. Raises UserError with
    file, line and key for everything else.
    """
    regions: dict[str, list[Region]] = {}
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            place = f"{path}, line {number}"
            record = json_object(parse_json(line, place, LINE), place, LINE)
            image = json_string(record, "image", place, LINE)
            regions.setdefault(image, []).append(_region(record, place))
    return {image: tuple(found) for image, found in regions.items()}


def _region(record: dict[str, Any], place: str) -> Region:
    word = json_member(record, "word", place, LINE)
    phrase = json_list(record, "phrase", place, LINE)
    if not _are([word, *phrase], 3, int) or not 0 <= phrase[0] <= word < phrase[1]:
        raise UserError(
            f'{place}: "word" is {word} and "phrase" {phrase}; a phrase is the number of its first '
            "word and of the one after its last, and the word is between them"
        )
    box = json_list(record, "box", place, LINE)
    if not _are(box, 4, (int, float)) or box[0] >= box[2] or box[1] >= box[3]:
        raise UserError(f'{place}: "box" is {box}; it is left, top, right and bottom in pixels')
    center = json_list(record, "center", place, LINE)
    if not _are(center, 2, (int, float)):
        raise UserError(f'{place}: "center" is {center}; it is x and y in pixels')
    noun = json_string(record, "noun", place, LINE)
    first, end = phrase
    left, top, right, bottom = box
    return Region(word, noun, (first, end), (left, top, right, bottom), (center[0], center[1]))


def _are(values: Sequence[object], count: int, kind: type | tuple[type, ...]) -> bool:
    """Whether these are so many numbers of a kind."""
    return len(values) == count and all(
        isinstance(value, kind) and not isinstance(value, bool) for value in values
    )
