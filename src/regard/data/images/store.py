"""Store: a directory of features by what they are of, which only grows.

Features lie in shards, each a `.npy` file of float16 `[pictures, positions, size]` with a `.json`
file beside it that names its pictures. A shard is whole or not there, and has a name that no other
shard has, so several processes may add to one store.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.images.backbone import Backbone
from regard.files import make_directory, replacing, write_text

FORMAT = 1

Shard = NDArray[np.float16]


@dataclass(frozen=True)
class Place:
    """Where the features of a picture lie."""

    shard: int
    row: int


def feature_bytes(images: int, backbone: Backbone, views: int = 1) -> int:
    """How much room the features of so many views of so many pictures take."""
    return images * views * 2 * backbone.rows * backbone.columns * backbone.size


class Store:
    """The features that one backbone made, of pictures from anywhere.

    directory: of its own inside the cache, named by the backbone's fingerprint.
    shards: mapped into memory, read-only.
    places: by the key of each picture.
    bytes_each: that the features of one picture take.
    """

    def __init__(self, cache: Path, backbone: Backbone) -> None:
        """Open the store, or begin one. Raises UserError when the place cannot be written to."""
        self._shape = (backbone.rows * backbone.columns, backbone.size)
        self.bytes_each = feature_bytes(1, backbone)
        known = f"{FORMAT} {backbone.fingerprint}"
        self.directory = make_directory(cache / hashlib.sha256(known.encode()).hexdigest()[:16])
        self.shards: list[Shard] = []
        self.places: dict[str, Place] = {}
        about = self.directory / "about.json"
        if not about.exists():
            text = {"format": FORMAT, "backbone": backbone.fingerprint, "shape": self._shape}
            write_text(about, json.dumps(text, indent=1) + "\n")
        for path in sorted(self.directory.glob("*.npy")):
            self._open(path)

    def add(self, keys: Sequence[str], features: Shard) -> None:
        """Keep the features of new pictures: `[len(keys), positions, size]`.

        Raises UserError when they cannot be written.
        """
        name = hashlib.sha256("\n".join(keys).encode()).hexdigest()[:24]
        path = self.directory / f"{name}.npy"
        header = np.lib.format.header_data_from_array_1_0(features)
        with replacing(path) as stream:
            np.lib.format.write_array_header_1_0(stream, header)
            stream.write(np.ascontiguousarray(features).data)
        write_text(path.with_suffix(".json"), json.dumps({"keys": list(keys)}) + "\n")
        self._open(path)

    def _open(self, path: Path) -> None:
        """Take a shard in, unless it was damaged since: then its features are made again."""
        keys = _keys(path.with_suffix(".json"))
        with suppress(OSError, ValueError, EOFError):
            shard = np.load(path, mmap_mode="r", allow_pickle=False)
            if shard.dtype != np.float16 or shard.shape != (len(keys), *self._shape):
                return
            for row, key in enumerate(keys):
                self.places[key] = Place(len(self.shards), row)
            self.shards.append(shard)


def _keys(path: Path) -> list[str]:
    """The pictures of a shard; none where the file is not there or not whole."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        keys: Any = json.loads(path.read_text(encoding="utf-8"))["keys"]
        if isinstance(keys, list) and all(isinstance(key, str) for key in keys):
            return keys
    return []
