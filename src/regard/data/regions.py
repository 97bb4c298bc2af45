"""Regions from a file: where in each picture the nouns of its caption are."""

from pathlib import Path
from typing import Any

from regard.data.lines import read_lines
from regard.data.readers.json_values import (
    json_kind,
    json_list,
    json_member,
    json_object,
    json_string,
    parse_json,
)
from regard.data.scenes.region import Region
from regard.errors import UserError

LINE = (
    'a line is an object such as {"image": "name.png", "word": 3, "noun": "star", '
    '"phrase": [0, 4], "box": [10, 20, 30, 40], "center": [20.0, 30.0]}'
)


def read_regions(path: Path) -> dict[str, list[Region]]:
    """The regions of each image's nouns, in the order of the file (`SPLIT.regions.jsonl`).

    Raises UserError, with file, line and key, for what is not a region: a missing key, a phrase
    without words, a noun outside its phrase, a box of no size.
    """
    found: dict[str, list[Region]] = {}
    for number, line in enumerate(read_lines(path), start=1):
        place = f"{path}, line {number}"
        record = json_object(parse_json(line, place, LINE), place, LINE)
        found.setdefault(json_string(record, "image", place, LINE), []).append(
            _region(record, place)
        )
    return found


def _region(record: dict[str, Any], place: str) -> Region:
    (word,) = _numbers([json_member(record, "word", place, LINE)], "word", place, 1, int)
    first, after = _numbers(json_list(record, "phrase", place, LINE), "phrase", place, 2, int)
    left, top, right, bottom = _numbers(json_list(record, "box", place, LINE), "box", place, 4)
    x, y = _numbers(json_list(record, "center", place, LINE), "center", place, 2)
    if not 0 <= first <= word < after:
        raise UserError(
            f'{place}: "word" is {word}, "phrase" {first} to {after}; a phrase is from its first '
            "word to the one after its last, and the noun is one of them"
        )
    if not (left < right and top < bottom):
        raise UserError(f'{place}: "box" has no size; it is left, top, right and bottom in pixels')
    noun = json_string(record, "noun", place, LINE)
    return Region(word, noun, (first, after), (left, top, right, bottom), (x, y))


def _numbers(values: list[Any], key: str, place: str, count: int, kind: Any = float) -> list[Any]:
    """As many numbers as there should be, whole ones if `kind` is int. UserError for others."""
    kinds = (int,) if kind is int else (int, float)
    if len(values) != count:
        raise UserError(f'{place}: "{key}" has {len(values)} values; it must have {count}')
    for value in values:
        if isinstance(value, bool) or not isinstance(value, kinds):
            whole = "whole " if kind is int else ""
            raise UserError(f'{place}: "{key}" has {json_kind(value)}; it takes {whole}numbers')
    return values
