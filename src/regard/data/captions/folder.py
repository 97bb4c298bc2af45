"""Folder: captions that lie beside their images, or in a file of a known name among them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from regard.data.captions.data import SPLITS
from regard.data.captions.entry import SPLIT_NAMES, Entry
from regard.data.captions.objects import read_caption_lines
from regard.data.captions.tables import read_table
from regard.data.lines import read_lines
from regard.errors import UserError

#: Endings of files that are images, in lower case.
IMAGE_SUFFIXES = (
    ".jpg",
    ".jpeg",
    ".png",
    ".webp",
    ".gif",
    ".bmp",
    ".tif",
    ".tiff",
    ".avif",
)
METADATA = ("metadata.jsonl", "metadata.csv")


def read_folder(
    folder: Path, images: Path | None, image: str | None, caption: str | None
) -> list[Entry]:
    """The entries of a folder.

    It holds `train.captions.csv` and the like (as scenes do), `metadata.jsonl` or `.csv` (itself,
    or its subfolders `train`, `valid`, `test`), or a `.txt` for every image, a caption a line.
    images: where the images of such texts are; None = beside them.
    Raises UserError for a folder of none of these, for an image without text and a text without
    image.
    """
    tables = {split: folder / f"{split}.captions.csv" for split in SPLITS}
    present = {split: path for split, path in tables.items() if os.path.isfile(path)}
    if present:
        return [
            _in(entry, "", split)
            for split, path in present.items()
            for entry in read_table(path, image, caption)
        ]
    found = list(_metadata(folder, image, caption))
    return found or list(_beside(folder, images or folder))


def _metadata(folder: Path, image: str | None, caption: str | None) -> Iterator[Entry]:
    """What metadata files say: of the folder, and of its subfolders that are called like splits."""
    below = sorted(
        name for name in os.listdir(folder) if name in SPLIT_NAMES and (folder / name).is_dir()
    )
    for name in ("", *below):
        for path in (folder / name / file for file in METADATA):
            if not os.path.isfile(path):
                continue
            read = read_caption_lines if path.suffix == ".jsonl" else read_table
            for entry in read(path, image, caption):
                yield _in(entry, name, SPLIT_NAMES.get(name))


def _in(entry: Entry, below: str, split: str | None) -> Entry:
    """An entry of a subfolder's file, which says what split it is in unless the entry does."""
    name = f"{below}/{entry.image}" if below else entry.image
    return Entry(name, entry.captions, entry.place, entry.identifier, entry.split or split)


def _beside(folder: Path, images: Path) -> Iterator[Entry]:
    """An image and the text of the same name, for all; both in the same subfolder, if in any.

    When all are in subfolders that are called like splits, they are these splits.
    """
    pictures = {_stem(name): name for name in _files(images, IMAGE_SUFFIXES)}
    texts = {_stem(name): name for name in _files(folder, (".txt",))}
    if not texts:
        raise UserError(
            f"{folder} holds no captions; give a captions file, or a folder with metadata.jsonl or "
            "with a .txt beside every image"
        )
    _check_partners(pictures, texts, images, folder)
    above = {stem.partition("/")[0] if "/" in stem else "" for stem in pictures}
    split = above <= SPLIT_NAMES.keys()
    for stem, name in pictures.items():
        path = folder / texts[stem]
        yield Entry(
            name,
            tuple(read_lines(path)),
            str(path),
            split=SPLIT_NAMES[stem.partition("/")[0]] if split else None,
        )


def _check_partners(
    pictures: dict[str, str], texts: dict[str, str], images: Path, folder: Path
) -> None:
    for have, lack, where, what in (
        (pictures, texts, folder, "no .txt"),
        (texts, pictures, images, "no image"),
    ):
        alone = [have[stem] for stem in have if stem not in lack]
        if alone:
            raise UserError(
                f"{where}: {len(alone)} of {len(have)} have {what} of the same name: "
                f"{listed(alone)}; every image has one text"
            )


def listed(names: list[str], most: int = 3) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def _files(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    """Paths inside a folder, with `/`, sorted, hidden ones left out.

    Raises UserError for two that differ in their suffix alone.
    """
    names = []
    for directory, below, files in os.walk(folder):
        below[:] = [name for name in below if not name.startswith(".")]
        inside = Path(directory).relative_to(folder)
        names += [
            (inside / name).as_posix()
            for name in files
            if not name.startswith(".") and name.lower().endswith(suffixes)
        ]
    names.sort()
    stems: dict[str, str] = {}
    for name in names:
        other = stems.setdefault(_stem(name), name)
        if other != name:
            raise UserError(f"{folder}: {other} and {name} would have the same text; rename one")
    return names


def _stem(name: str) -> str:
    path = PurePosixPath(name)
    return path.with_suffix("").as_posix()
