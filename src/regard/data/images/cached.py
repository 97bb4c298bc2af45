"""Cached grids: features computed once, kept as float16 and mapped into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regard.data.images.backbone import Backbone

if TYPE_CHECKING:
    from regard.data.images.grids import Grids


@dataclass(frozen=True)
class Damaged:
    """An image that could not be read: its place in the list, and why."""

    index: int
    reason: str


def cache_features(
    images: Sequence[Path],
    backbone: Backbone,
    cache: Path,
    *,
    views: Sequence[str] = ("original",),
    progress: Callable[[int, int], None] | None = None,
    skip_damaged: bool = False,
) -> tuple[Grids, list[Damaged]]:
    """The grids of `images`, in that order; what `cache` lacks is computed and kept there.

    progress: told (done, total) of the images that had to be computed.
    skip_damaged: images that cannot be read get grids of zeros and are listed; otherwise the first
        one is a UserError that names the file.
    """
    raise NotImplementedError
