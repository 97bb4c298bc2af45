"""Caching: the grids of a list of pictures, computing what is not kept yet."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from regard.data.images.backbone import Backbone
from regard.data.images.cached import CachedGrids, Damaged
from regard.data.images.extraction import decode_for, half_features
from regard.data.images.reading import read_bytes
from regard.data.images.store import Shard, Store
from regard.data.images.threads import in_threads
from regard.data.images.views import ORIGINAL, check_views
from regard.errors import UserError

#: Bytes of features that are written at once: what is lost when the process is killed.
SHARD = 32 * 2**20

Progress = Callable[[int, int], None]


def cached_grids(
    images: Sequence[Path],
    backbone: Backbone,
    cache: Path,
    *,
    views: Sequence[str] = (ORIGINAL,),
    progress: Progress | None = None,
    skip_damaged: bool = False,
) -> CachedGrids:
    """The grids of pictures; what `cache` lacks is computed, in all of torch's threads, and kept.

    Features are known by what is in the file, the view, and the backbone's fingerprint: a picture
    that changed is computed anew, one that only moved is not. When this is stopped, what was
    computed stays.

    views: `original` first; see `regard.data.images.views`.
    progress: told how many of the pictures that have to be computed are done, from 0 on, and how
        many they are; not called when there are none. What it raises stops the computation.
    skip_damaged: leave out what cannot be read and list it in `CachedGrids.damaged`; otherwise the
        first one raises UserError naming the file.
    Raises UserError when no picture can be read, and when there is no room for the features.
    """
    check_views(views)
    store = Store(cache, backbone)
    hashed = partial(_content, skip_damaged=skip_damaged)
    contents = list(in_threads(hashed, images))
    pictures = _missing(images, contents, views, store)
    _check_room(pictures, store)
    broken = _fill(store, pictures, partial(_make, backbone, skip_damaged), progress)
    outcomes = [broken.get(content, content) for content in contents]
    return _grids(outcomes, backbone, views, store)


@dataclass(frozen=True)
class _Picture:
    """A file, the hash of what is in it, and its views that are not kept yet."""

    path: Path
    content: str
    views: tuple[str, ...]

    def keys(self) -> list[str]:
        return [_key(self.content, view) for view in self.views]


def _key(content: str, view: str) -> str:
    return f"{content} {view}"


def _content(path: Path, skip_damaged: bool) -> str | UserError:
    """The hash of what is in a file, or why it cannot be read where such files are skipped."""
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except UserError as error:
        if not skip_damaged:
            raise
        return error


def _missing(
    images: Sequence[Path],
    contents: Sequence[str | UserError],
    views: Sequence[str],
    store: Store,
) -> list[_Picture]:
    """What the store lacks, each content once, in the order of the list."""
    found: dict[str, _Picture] = {}
    for path, content in zip(images, contents, strict=True):
        if isinstance(content, str) and content not in found:
            lacking = tuple(view for view in views if _key(content, view) not in store.places)
            if lacking:
                found[content] = _Picture(path, content, lacking)
    return list(found.values())


def _check_room(pictures: Sequence[_Picture], store: Store) -> None:
    needed = store.bytes_each * sum(len(picture.views) for picture in pictures)
    free = shutil.disk_usage(store.directory).free
    if needed > free:
        raise UserError(
            f"the features of {len(pictures):,} images take {needed / 1e9:.1f} GB, and "
            f"{store.directory} has {free / 1e9:.1f} GB free; free some space or keep them "
            "elsewhere"
        )


def _fill(
    store: Store,
    pictures: Sequence[_Picture],
    make: Callable[[_Picture], Shard | UserError],
    progress: Progress | None,
) -> dict[str | UserError, UserError]:
    """Make the features of pictures and keep them. What could not be read, by its content."""
    broken: dict[str | UserError, UserError] = {}
    pending = _Pending(store)
    tell = _nobody if progress is None or not pictures else progress
    tell(0, len(pictures))
    try:
        with closing(in_threads(make, pictures)) as made:
            for done, (picture, features) in enumerate(zip(pictures, made, strict=True), start=1):
                if isinstance(features, UserError):
                    broken[picture.content] = features
                else:
                    pending.add(picture.keys(), features)
                tell(done, len(pictures))
    finally:
        pending.flush()
    return broken


def _nobody(done: int, total: int) -> None:
    """Progress that nobody is told of."""


class _Pending:
    """Features on their way into the store, a shard at a time."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.keys: list[str] = []
        self.parts: list[Shard] = []

    def add(self, keys: Sequence[str], features: Shard) -> None:
        self.keys += keys
        self.parts.append(features)
        if len(self.keys) * self.store.bytes_each >= SHARD:
            self.flush()

    def flush(self) -> None:
        keys, parts = self.keys, self.parts
        self.keys, self.parts = [], []
        if keys:
            self.store.add(keys, np.concatenate(parts))


def _make(backbone: Backbone, skip_damaged: bool, picture: _Picture) -> Shard | UserError:
    """The features of a picture's views, or why it cannot be read where such are skipped."""
    name = str(picture.path)
    try:
        data = read_bytes(picture.path)
        if hashlib.sha256(data).hexdigest() != picture.content:
            raise UserError(f"{name} was changed while it was read; start again")
        image = decode_for(backbone, data, name)
    except UserError as error:
        if not skip_damaged:
            raise
        return error
    made = [half_features(image, name, backbone, view).numpy() for view in picture.views]
    return np.concatenate(made)


def _grids(
    outcomes: Sequence[str | UserError], backbone: Backbone, views: Sequence[str], store: Store
) -> CachedGrids:
    """The grids of all pictures that are not a reason why they cannot be read."""
    kept = [index for index, outcome in enumerate(outcomes) if isinstance(outcome, str)]
    damaged = tuple(
        Damaged(index, str(outcome))
        for index, outcome in enumerate(outcomes)
        if isinstance(outcome, UserError)
    )
    if damaged and not kept:
        raise UserError(f"none of {len(outcomes)} images can be read: {damaged[0].reason}")
    places = [[store.places[_key(str(outcomes[index]), view)] for view in views] for index in kept]
    return CachedGrids(
        backbone.rows,
        backbone.columns,
        backbone.size,
        tuple(store.shards),
        np.array([[(p.shard, p.row) for p in row] for row in places], np.int64).reshape(
            len(kept), len(views), 2
        ),
        tuple(kept),
        damaged,
    )
