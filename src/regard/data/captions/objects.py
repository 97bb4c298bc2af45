"""Objects: captions in JSON: COCO's, Karpathy's, and an object a line (`metadata.jsonl`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.data.captions.columns import CAPTION_NAMES, IMAGE_NAMES, SPLIT, choose
from regard.data.captions.entry import Entry, check_image, split_name
from regard.data.lines import read_lines
from regard.data.readers.json_values import (
    json_kind,
    json_list,
    json_member,
    json_object,
    json_string,
    parse_json,
    read_json,
    unicode_text,
)
from regard.errors import UserError

COCO_IMAGE = 'an image is {"id": 1, "file_name": "name.jpg"}'
COCO_CAPTION = 'a caption is {"image_id": 1, "caption": "..."}'
KARPATHY_IMAGE = 'an image is {"filename": "name.jpg", "split": "train", "sentences": [...]}'
KARPATHY_SENTENCE = 'a sentence is {"raw": "..."}, or {"tokens": ["...", ...]}'
LINE = 'a line is an object such as {"file_name": "name.jpg", "caption": "..."}'


def read_captions_json(path: Path) -> Iterator[Entry]:
    """The entries of COCO's captions JSON, or of Karpathy's with its splits.

    Raises UserError with file and key for everything that is neither.
    """
    wanted = "captions are COCO's (images and annotations) or Karpathy's (images with sentences)"
    record = json_object(read_json(path), str(path), wanted)
    images = json_list(record, "images", str(path), wanted)
    if "annotations" in record:
        return _coco(images, json_list(record, "annotations", str(path), wanted), str(path))
    return _karpathy(images, str(path))


def _coco(images: list[Any], annotations: list[Any], origin: str) -> Iterator[Entry]:
    known: dict[str | int, tuple[str, str]] = {}
    files: dict[str, str] = {}
    for number, value in enumerate(images):
        place = f"{origin}, images[{number}]"
        record = json_object(value, place, COCO_IMAGE)
        identifier = _identifier(record, "id", place, COCO_IMAGE)
        name = check_image(json_string(record, "file_name", place, COCO_IMAGE), place)
        if identifier in known:
            raise UserError(
                f"{place}: id {identifier} is also that of {known[identifier][0]}; an image has "
                "an id of its own"
            )
        if name in files:
            raise UserError(f"{place}: {name} is also {files[name]}; an image comes once")
        known[identifier], files[name] = (name, place), f"images[{number}]"
    captions: dict[str | int, list[str]] = {identifier: [] for identifier in known}
    for number, value in enumerate(annotations):
        place = f"{origin}, annotations[{number}]"
        record = json_object(value, place, COCO_CAPTION)
        identifier = _identifier(record, "image_id", place, COCO_CAPTION)
        if identifier not in captions:
            raise UserError(f"{place}: no image has the id {identifier}; images must list it")
        captions[identifier].append(json_string(record, "caption", place, COCO_CAPTION))
    for identifier, (name, place) in known.items():
        if not captions[identifier]:
            raise UserError(f"{place}: {name} has no caption; give it one, or leave it out")
        yield Entry(name, tuple(captions[identifier]), place, identifier)


def _karpathy(images: list[Any], origin: str) -> Iterator[Entry]:
    for number, value in enumerate(images):
        place = f"{origin}, images[{number}]"
        record = json_object(value, place, KARPATHY_IMAGE)
        name = check_image(json_string(record, "filename", place, KARPATHY_IMAGE), place)
        if "filepath" in record:
            name = f"{json_string(record, 'filepath', place, KARPATHY_IMAGE)}/{name}"
        sentences = json_list(record, "sentences", place, KARPATHY_IMAGE)
        if not sentences:
            raise UserError(f"{place}: {name} has no sentences; {KARPATHY_IMAGE}")
        split = split_name(json_string(record, SPLIT, place, KARPATHY_IMAGE), place)
        cocoid = record.get("cocoid")
        yield Entry(
            name,
            tuple(_sentence(s, f"{place}.sentences[{i}]") for i, s in enumerate(sentences)),
            place,
            None if cocoid is None else _identifier(record, "cocoid", place, KARPATHY_IMAGE),
            split,
        )


def _sentence(value: object, place: str) -> str:
    """A sentence as it was written, else its tokens with spaces between them."""
    record = json_object(value, place, KARPATHY_SENTENCE)
    if "raw" in record or "tokens" not in record:
        return json_string(record, "raw", place, KARPATHY_SENTENCE)
    tokens = json_list(record, "tokens", place, KARPATHY_SENTENCE)
    return " ".join(unicode_text(token, f"{place}: a token") for token in tokens)


def read_caption_lines(
    path: Path, image: str | None = None, caption: str | None = None
) -> Iterator[Entry]:
    """An entry for every line of JSON, as they come; blank lines are passed over.

    image, caption: the keys of the file's name and of its caption, or list of captions; None =
    those that are usual. A key `split` says which split an image is in. Raises UserError with file,
    line and key for everything else.
    """
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        record = json_object(parse_json(line, place, LINE), place, LINE)
        keys = list(record)
        name = json_string(record, choose(keys, image, IMAGE_NAMES, "image", place), place, LINE)
        said = choose(keys, caption, CAPTION_NAMES, "caption", place)
        split = record.get(SPLIT)
        yield Entry(
            check_image(name, place),
            _captions(record[said], f'{place}: the value of "{said}"'),
            place,
            split=None if split is None else split_name(unicode_text(split, place), place),
        )


def _captions(value: object, what: str) -> tuple[str, ...]:
    """One caption or a list of them."""
    if isinstance(value, list):
        return tuple(unicode_text(each, f"an item of {what}") for each in value)
    return (unicode_text(value, what),)


def _identifier(record: dict[str, Any], key: str, place: str, remedy: str) -> str | int:
    value = json_member(record, key, place, remedy)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise UserError(
            f'{place}: the value of "{key}" is {json_kind(value)}; it must be a whole number or '
            "a string"
        )
    return value
