"""Ready files: arrays of features by the name of their image, as people keep them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from regard.data.lines import read_lines
from regard.errors import UserError
from regard.files import require_file

FORMS = (
    "a folder with NAME.npy for every image, a .safetensors file with a tensor for every image, or "
    "a .npy file with the names of its images in a .txt file beside it"
)


class ReadyFile(Protocol):
    """Where the features of images lie."""

    def names(self, image: str) -> list[str]:
        """What the features of an image may be called, most exact first."""

    def __contains__(self, name: str) -> bool: ...

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of one image's array, without reading it."""

    def read(self, name: str) -> Tensor:
        """One image's array, of any type of number."""


def open_ready(path: Path) -> ReadyFile:
    """The features that a path names. Raises UserError when it names none."""
    if os.path.isdir(path):
        return _Folder(path)
    require_file(path, FORMS)
    if path.suffix == ".safetensors":
        return _Safetensors(path)
    if path.suffix == ".npy":
        return _Array(path)
    raise UserError(f"{path}: not features that can be read; give {FORMS}")


def without_suffix(image: str) -> str:
    """An image's name without `.jpg` or the like."""
    return os.path.splitext(image)[0]


class _Folder:
    """A `.npy` file for each image."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self, image: str) -> list[str]:
        return [f"{image}.npy", f"{without_suffix(image)}.npy"]

    def __contains__(self, name: str) -> bool:
        return os.path.isfile(self.path / name)

    def shape(self, name: str) -> tuple[int, ...]:
        with _reading(self.path / name):
            return tuple(np.load(self.path / name, mmap_mode="r", allow_pickle=False).shape)

    def read(self, name: str) -> Tensor:
        with _reading(self.path / name):
            return torch.from_numpy(np.load(self.path / name, allow_pickle=False))


class _Safetensors:
    """A tensor for each image."""

    def __init__(self, path: Path) -> None:
        with _reading(path):
            self.file = safe_open(path, framework="pt")
            self.keys = frozenset(self.file.keys())

    def names(self, image: str) -> list[str]:
        return [image, without_suffix(image)]

    def __contains__(self, name: str) -> bool:
        return name in self.keys

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.file.get_slice(name).get_shape())

    def read(self, name: str) -> Tensor:
        tensor: Tensor = self.file.get_tensor(name)
        return tensor


class _Array:
    """One array for all images, mapped into memory; line i of a list names row i."""

    def __init__(self, path: Path) -> None:
        listed = path.with_suffix(".txt")
        names = read_lines(require_file(listed, f"the names of the images in {path}, one a line"))
        self.rows = {name: row for row, name in enumerate(names)}
        with _reading(path):
            self.array = np.load(path, mmap_mode="r", allow_pickle=False)
        if self.array.ndim == 0 or len(self.array) != len(names):
            count = len(self.array) if self.array.ndim else "no"
            raise UserError(
                f"{path} holds {count} arrays and {listed} {len(names)} names: line i must name "
                "array i"
            )
        if len(self.rows) < len(names):
            twice = next(name for row, name in enumerate(names) if self.rows[name] != row)
            raise UserError(f"{listed} names {twice} twice; every image has one array")

    def names(self, image: str) -> list[str]:
        return [image, without_suffix(image)]

    def __contains__(self, name: str) -> bool:
        return name in self.rows

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.array.shape[1:])

    def read(self, name: str) -> Tensor:
        return torch.from_numpy(np.array(self.array[self.rows[name]]))


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what a file that is no array raises into one UserError that names it."""
    try:
        yield
    except (OSError, ValueError, TypeError, EOFError, SafetensorError) as error:
        raise UserError(
            f"{path}: not a whole file of numbers ({error}); make it again with numpy.save or "
            "safetensors"
        ) from error
