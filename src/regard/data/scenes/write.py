"""Write: scenes as a directory of texts, alignments, captions, regions and pictures."""

import csv
import io
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp

from regard.data.images.pillow import pillow
from regard.data.scenes.description import LANGUAGES, scene_alignments, scene_text
from regard.data.scenes.generator import generate_scenes
from regard.data.scenes.picture import png
from regard.data.scenes.readme import readme
from regard.data.scenes.region import regions
from regard.data.scenes.scene import Scene
from regard.errors import UserError
from regard.files import make_directory, writing

SMALLEST = 20
ALIGNED = (("en", "de"), ("en", "fr"))


def split_scenes(scenes: list[Scene]) -> dict[str, list[Scene]]:
    """Train, valid and test: the first `split_sizes` of the scenes, the next, and the last."""
    rest = iter(scenes)
    return {split: list(islice(rest, size)) for split, size in split_sizes(len(scenes)).items()}


def split_sizes(count: int) -> dict[str, int]:
    """How many of `count` scenes train, valid and test get: the last two a twentieth each."""
    share = count // 20
    return {"train": count - 2 * share, "valid": share, "test": share}


def write_scenes(
    directory: str | Path, pairs: int = 10_000, seed: int = 1, *, images: bool = True
) -> None:
    """Write `pairs` scenes, all or nothing; the same seed writes the same bytes.

    images: draw the pictures as well, and write the captions and regions that belong to them.
    Raises UserError when `directory` exists or cannot be written, when `pairs` is under 20 or
    more than there are scenes, and when there is no Pillow to draw with.
    """
    directory = Path(directory)
    if pairs < SMALLEST:
        raise UserError(f"{pairs} scenes cannot be split three ways; ask for {SMALLEST} or more")
    if images:
        pillow()
    with _appearing(directory) as beside:
        for split, scenes in split_scenes(generate_scenes(pairs, seed)).items():
            _write_texts(beside, split, scenes)
            if images:
                _write_pictures(beside, split, scenes)
        _write(beside / "README.md", readme(pairs, seed, images))


def _write_texts(directory: Path, split: str, scenes: list[Scene]) -> None:
    for language in LANGUAGES:
        lines = [scene_text(scene, language) for scene in scenes]
        _write(directory / f"{split}.{language}", _lines(lines))
    for source, target in ALIGNED:
        links = [alignment.pharaoh() for alignment in scene_alignments(scenes, source, target)]
        _write(directory / f"{split}.{source}-{target}.align", _lines(links))


def _write_pictures(directory: Path, split: str, scenes: list[Scene]) -> None:
    folder = directory / "images"
    folder.mkdir(exist_ok=True)
    captions = io.StringIO()
    table = csv.writer(captions, lineterminator="\n")
    table.writerow(("image", "caption"))
    places = []
    for number, scene in enumerate(scenes, start=1):
        name = f"{split}-{number:06d}.png"
        (folder / name).write_bytes(png(scene))
        table.writerow((name, scene_text(scene, "en")))
        for region in regions(scene):
            row = {"image": name, **vars(region)}
            places.append(json.dumps(row, ensure_ascii=False))
    _write(directory / f"{split}.captions.csv", captions.getvalue())
    _write(directory / f"{split}.regions.jsonl", _lines(places))


def _lines(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))


@contextmanager
def _appearing(directory: Path) -> Iterator[Path]:
    """A directory beside that becomes `directory` when the block ends, and nothing otherwise."""
    if os.path.lexists(directory):
        raise UserError(f"{directory} exists already; choose another name or remove it first")
    with writing(directory):
        parent = make_directory(directory.absolute().parent)
        beside = Path(mkdtemp(prefix=f".{directory.name[:200]}.", suffix=".partial", dir=parent))
        try:
            beside.chmod(0o777 & ~_mask())
            yield beside
            os.rename(beside, directory)
        except BaseException:
            with suppress(OSError):
                shutil.rmtree(beside)
            raise


def _mask() -> int:
    """The permissions that new files of this process lack; reading it means setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
