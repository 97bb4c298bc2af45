"""Reading: captions from any of their formats, with the images they belong to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from regard.data.captions.data import SPLITS, CaptionData, Captioned
from regard.data.captions.entry import Entry, gather, one_line
from regard.data.captions.folder import listed, read_folder
from regard.data.captions.objects import read_caption_lines, read_captions_json
from regard.data.captions.tables import is_table, read_table
from regard.data.captions.tokens import is_tokens, read_rows, read_tokens
from regard.data.lines import read_lines
from regard.errors import UserError
from regard.files import require_directory, require_file

FORMS = (
    "a .csv or .tsv with columns image and caption, Flickr8k's token file, COCO's or Karpathy's "
    ".json, a .jsonl, or a folder of images with their captions"
)


def read_captions(
    data: str | Path,
    images: Path | None = None,
    split: str | None = None,
    *,
    image: str | None = None,
    caption: str | None = None,
    skip_missing: bool = False,
    find_images: bool = True,
) -> CaptionData:
    """Read captions and find the images they belong to, strictly.

    data: a captions file (CSV or TSV, Flickr8k's token file, COCO's or Karpathy's JSON, an object
        a line) or a folder; see docs/formats.md.
    images: the folder that the images' names are relative to; None = the folder `images` beside
        the captions file where there is one, else the folder of the file itself.
    split: `train`, `valid` or `test` where the file carries them, or a file that lists the names
        of the images, one a line; None = all.
    image, caption: the columns or keys that hold them; None = those with a usual name.
    skip_missing: leave out images that are not there and name them in `CaptionData.missing`.
    find_images: False where features are ready-made and images need not be there: `image` of each
        example is then the name that the captions have.

    A blank caption is dropped and counted, and so is an image that has no other. Raises UserError
    with file and line or key for everything malformed, for images that are not there, and when
    nothing is left.
    """
    path = Path(data)
    entries = gather(_entries(path, images, image, caption))
    if not entries:
        raise UserError(f"{path} holds no captions; it should name at least one image")
    if split is not None and split not in SPLITS:
        entries = _listed(entries, split, path)
    written = [
        replace(entry, captions=tuple(filter(None, map(one_line, entry.captions))))
        for entry in entries
    ]
    blank = sum(map(_count, entries)) - sum(map(_count, written))
    chosen = [e for e in written if e.captions and (split not in SPLITS or e.split == split)]
    if not chosen:
        raise UserError(_nothing(written, split, path))
    folder = _images_folder(path, images) if find_images else None
    places = [_place(entry, folder) for entry in chosen]
    missing = [entry for entry, place in zip(chosen, places, strict=True) if place is None]
    if folder is not None and missing and (not skip_missing or len(missing) == len(chosen)):
        raise UserError(_absent(missing, len(chosen), folder))
    found = tuple(
        _example(entry, place)
        for entry, place in zip(chosen, places, strict=True)
        if place is not None
    )
    _check_different(found, path)
    origin = str(path) if split is None else f"{path} ({split})"
    return CaptionData(
        found, origin, blank, tuple(_example(each, Path(each.image)) for each in missing)
    )


def _count(entry: Entry) -> int:
    return len(entry.captions)


def _entries(
    path: Path, images: Path | None, image: str | None, caption: str | None
) -> Iterable[Entry]:
    """What a captions file or folder says, by the reader of its format."""
    if os.path.isdir(path):
        return read_folder(path, images, image, caption)
    require_file(path, "a file of captions")
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".json"):
        return read_captions_json(path)
    if name.endswith(".jsonl"):
        return read_caption_lines(path, image, caption)
    first = next((line for line in read_lines(path) if line.strip()), "")
    if name.endswith(".csv") or is_table(first) or (image and caption):
        return read_table(path, image, caption)
    if is_tokens(first):
        return read_tokens(path)
    if name.endswith(".tsv"):
        return read_rows(path)
    raise UserError(f"{path}: not captions that can be read; give {FORMS}")


def _images_folder(path: Path, images: Path | None) -> Path:
    """Where images are: as given, else in `images` beside the captions, else beside them."""
    if images is not None:
        return require_directory(images, "the folder of images")
    beside = path if os.path.isdir(path) else path.parent
    return beside / "images" if os.path.isdir(beside / "images") else beside


def _place(entry: Entry, folder: Path | None) -> Path | None:
    """Where its image is: at its name in the folder, or at the last part of its name.

    Without a folder, the name is all that is known. None where there is no such file.
    """
    if folder is None:
        return Path(entry.image)
    for name in (entry.image, PurePosixPath(entry.image).name):
        if os.path.isfile(folder / name):
            return folder / name
    return None


def _example(entry: Entry, image: Path) -> Captioned:
    identifier = entry.image if entry.identifier is None else entry.identifier
    return Captioned(image, entry.captions, identifier, entry.split)


def _check_different(examples: Iterable[Captioned], path: Path) -> None:
    """Raises UserError where two names turn out to be one file."""
    names: dict[Path, str | int] = {}
    for example in examples:
        other = names.setdefault(example.image, example.identifier)
        if other != example.identifier:
            raise UserError(
                f"{path}: {other} and {example.identifier} are both {example.image}; names of "
                "different images must lead to different files"
            )


def _listed(entries: list[Entry], split: str, path: Path) -> list[Entry]:
    """The entries whose images a file lists, in the order of the captions file."""
    if not os.path.exists(split):
        raise UserError(
            f"{split} is neither a split ({', '.join(SPLITS)}) nor a file that lists images; give "
            "one of these"
        )
    wanted = {line.strip(): None for line in read_lines(Path(split)) if line.strip()}
    known = {name: entry for entry in reversed(entries) for name in _names(entry)}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UserError(
            f"{len(unknown)} of {len(wanted)} images in {split} have no captions in {path}: "
            f"{listed(unknown)}; list the names as they are there"
        )
    chosen = {known[name].image for name in wanted}
    return [entry for entry in entries if entry.image in chosen]


def _names(entry: Entry) -> set[str]:
    """What a list may call an image."""
    names = {entry.image, PurePosixPath(entry.image).name}
    return names if entry.identifier is None else {*names, str(entry.identifier)}


def _nothing(entries: list[Entry], split: str | None, path: Path) -> str:
    """What to say when no image is left."""
    if split in SPLITS and not any(entry.split == split for entry in entries):
        there = sorted({entry.split for entry in entries if entry.split}, key=SPLITS.index)
        has = f"it has {', '.join(there)}" if there else "it carries no splits"
        return f"{path} has no split {split!r}; {has}; give a file that lists images instead"
    of = "" if split is None else f" of {split}"
    return f"{path}: every caption{of} is blank; give at least one image a caption"


def _absent(missing: list[Entry], total: int, folder: Path) -> str:
    names = [entry.image for entry in missing]
    return (
        f"{len(missing):,} of {total:,} images are not in {folder}: {listed(names)} (the first is "
        f"named at {missing[0].place}); say where the images are with --images"
    )
