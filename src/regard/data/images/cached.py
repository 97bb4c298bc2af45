"""Cached grids: features computed once, kept as float16 and mapped into memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from regard.data.images.store import Shard
from regard.errors import UserError


@dataclass(frozen=True)
class Damaged:
    """A picture that could not be read: its place in the list that was asked for, and why."""

    index: int
    reason: str


@dataclass(frozen=True, eq=False)
class CachedGrids:
    """The features of pictures, as `regard.data.images.grids.Grids`; made by `cached_grids`.

    shards, places: where the features lie: `places[image, view]` is a shard and a row in it.
    kept: for each image here, its place in the list that was asked for.
    damaged: those of that list that are left out; empty unless they were to be skipped.
    """

    rows: int
    columns: int
    size: int
    shards: tuple[Shard, ...]
    places: NDArray[np.int64]
    kept: tuple[int, ...]
    damaged: tuple[Damaged, ...] = ()

    @property
    def views(self) -> int:
        return int(self.places.shape[1])

    def __len__(self) -> int:
        return len(self.places)

    def batch(
        self, indices: Sequence[int], views: Sequence[int] | None = None
    ) -> Float[Tensor, "batch positions size"]:
        chosen = [0] * len(indices) if views is None else views
        features = np.empty((len(indices), self.rows * self.columns, self.size), np.float16)
        for number, (index, view) in enumerate(zip(indices, chosen, strict=True)):
            shard, row = self.places[index, view]
            features[number] = self.shards[shard][row]
        return torch.from_numpy(features).float()


def default_cache() -> Path:
    """Where features are kept when nobody says where.

    `$REGARD_CACHE`, else `regard` in `$XDG_CACHE_HOME`, else `~/.cache/regard`; in it `features`.
    Raises UserError when there is no home directory.
    """
    named = os.environ.get("REGARD_CACHE")
    if named:
        return Path(named) / "features"
    above = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(above) if above else Path.home() / ".cache") / "regard" / "features"
    except RuntimeError as error:
        raise UserError(
            "there is no home directory to keep features in; set REGARD_CACHE to a directory"
        ) from error
