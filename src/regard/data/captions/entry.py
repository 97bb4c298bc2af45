"""Entry: what a captions file says of one image, before the image is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from regard.data.captions.data import SPLITS
from regard.errors import UserError

#: What files call the splits. `restval` are COCO's validation images that are trained on.
SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "restval": "train",
    "valid": "valid",
    "val": "valid",
    "validation": "valid",
    "dev": "valid",
    "test": "test",
}


@dataclass(frozen=True)
class Entry:
    """An image and captions of it.

    image: the name in the file: a path inside the folder of images, with `/`.
    place: where the file says it, for messages.
    identifier: what else the file calls the image; None = its name.
    """

    image: str
    captions: tuple[str, ...]
    place: str
    identifier: str | int | None = None
    split: str | None = None


def gather(entries: Iterable[Entry]) -> list[Entry]:
    """One entry for each image, in the order of their first ones, with all its captions.

    Raises UserError when entries of one image disagree about its split or its identifier.
    """
    images: dict[str, Entry] = {}
    captions: dict[str, list[str]] = {}
    for entry in entries:
        first = images.setdefault(entry.image, entry)
        for what in ("split", "identifier"):
            one, other = getattr(first, what), getattr(entry, what)
            if one != other:
                raise UserError(
                    f"{entry.place}: {entry.image} has {what} {other}, and {one} at {first.place}; "
                    "an image has one"
                )
        captions.setdefault(entry.image, []).extend(entry.captions)
    return [replace(entry, captions=tuple(captions[name])) for name, entry in images.items()]


def one_line(caption: str) -> str:
    """A caption without white space at its ends; line breaks inside it become spaces."""
    return re.sub(r"\s*[\r\n]\s*", " ", caption.strip())


def split_name(given: str, place: str) -> str:
    """Train, valid or test, whatever the file calls it. Raises UserError for anything else."""
    name = SPLIT_NAMES.get(given.strip().lower())
    if name is None:
        raise UserError(
            f"{place}: there is no split {given!r}; a split is {', '.join(SPLITS)} (or val, dev, "
            "restval)"
        )
    return name


def check_image(name: str, place: str) -> str:
    """The name itself. Raises UserError for one that is blank or cannot be a file's."""
    if not name.strip() or "\0" in name:
        raise UserError(f"{place}: the name of the image is missing; it should name a file")
    return name
