"""Columns: what tables and objects call the image, its captions and its split."""

from __future__ import annotations

from collections.abc import Sequence

from regard.errors import UserError

IMAGE_NAMES = (
    "image",
    "image_name",
    "file_name",
    "filename",
    "file",
    "path",
    "filepath",
    "image_path",
)
CAPTION_NAMES = (
    "caption",
    "captions",
    "text",
    "comment",
    "prompt",
    "description",
    "sentence",
    "sentences",
    "raw",
)
SPLIT = "split"


def choose(
    columns: Sequence[str], given: str | None, usual: Sequence[str], what: str, place: str
) -> str:
    """The column that holds something: the one given, else the only one with a usual name.

    Names are compared without regard to case. Raises UserError where there is none, or several.
    """
    wanted = usual if given is None else (given.lower(),)
    found = [column for column in columns if column.lower() in wanted]
    there = ", ".join(columns) or "none"
    if not found:
        name = given or what
        raise UserError(
            f"{place}: no column {name!r} (there are: {there}); name the {what} column, or call it "
            f"{usual[0]!r}"
        )
    if len(found) > 1:
        raise UserError(
            f"{place}: {' and '.join(found)} could both be the {what} column; name one of them"
        )
    return found[0]
