"""Images named on the command line: files, folders of them, patterns."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.errors import UserError

_MAGIC = frozenset("*?[")


def image_files(named: Sequence[str]) -> list[Path]:
    """The files that are meant, in the order in which they are named, those of a folder by name.

    A folder stands for the images in it, not for those in folders below; a pattern such as
    `photos/*.jpg`, where a shell has left it, for the files that match. A file need not exist: that
    is told when it is read. Raises UserError for a folder without images, and for a pattern that
    matches nothing.
    """
    return [path for each in named for path in _files(each)]


def _files(name: str) -> Iterator[Path]:
    from regard.data.captions.folder import IMAGE_SUFFIXES

    path = Path(name)
    if path.is_dir():
        inside = sorted(each for each in path.iterdir() if each.suffix.lower() in IMAGE_SUFFIXES)
        if not inside:
            raise UserError(
                f"{name} holds no images; it should have files that end in "
                f"{', '.join(IMAGE_SUFFIXES)}"
            )
        yield from inside
    elif not path.exists() and _MAGIC & set(name):
        yield from _matching(name)
    else:
        yield path


def _matching(pattern: str) -> list[Path]:
    from glob import glob

    found = sorted(Path(each) for each in glob(pattern) if Path(each).is_file())
    if not found:
        raise UserError(f"{pattern} matches no file; it should match images")
    return found
