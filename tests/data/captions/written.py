"""Captions of four tiny images, written in every format."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image

CAPTIONS = {
    "a.png": ["A red square .", 'It says "red", clearly.'],
    "b.png": ["A green square, alone.", "Grün."],
    "c.png": ["A blue square ."],
    "d.png": ["White | yellow; black."],
}
SPLITS = {"a.png": "train", "b.png": "train", "c.png": "valid", "d.png": "test"}


def save_images(folder: Path, names: tuple[str, ...] = tuple(CAPTIONS)) -> Path:
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4), (number, 0, 0)).save(folder / name)
    return folder


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def rows() -> list[tuple[str, str]]:
    return [(name, caption) for name, captions in CAPTIONS.items() for caption in captions]


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def csv(separator: str = ",", header: str = "image,caption") -> str:
    head = header.replace(",", separator)
    return f"{head}\n" + "".join(f"{n}{separator}{quoted(c)}\n" for n, c in rows())


def tokens() -> str:
    return "".join(
        f"{name}#{number}\t{caption}\n"
        for name, captions in CAPTIONS.items()
        for number, caption in enumerate(captions)
    )


def coco() -> str:
    numbers = {name: 7 * number for number, name in enumerate(CAPTIONS, start=1)}
    return json.dumps(
        {
            "info": {},
            "images": [{"id": number, "file_name": name} for name, number in numbers.items()],
            "annotations": [
                {"id": 1, "image_id": numbers[name], "caption": caption} for name, caption in rows()
            ],
        }
    )


def karpathy(split: dict[str, str] | None = None) -> str:
    """Splits as Karpathy calls them; the captions of c only as tokens."""
    called = {"train": "train", "valid": "val", "test": "test"}
    return json.dumps(
        {
            "dataset": "tiny",
            "images": [
                {
                    "filename": name,
                    "imgid": number,
                    "split": "restval" if name == "b.png" else called[SPLITS[name]],
                    "sentences": [
                        {"tokens": caption.split()}
                        if name == "c.png"
                        else {"tokens": ["x"], "raw": caption}
                        for caption in captions
                    ],
                }
                for number, (name, captions) in enumerate(CAPTIONS.items())
            ],
        }
    )


def lines(key: str = "caption", name: str = "file_name") -> str:
    """An object a line; every other image has its captions in a list."""
    made = []
    for number, (image, captions) in enumerate(CAPTIONS.items()):
        if number % 2:
            made.append({name: image, key: captions, "other": 1})
        else:
            made += [{name: image, key: caption} for caption in captions]
    return "".join(json.dumps(record) + "\n" for record in made)
