"""Photos: those last dropped on the page, as the models see them."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from regard.data.images.backbone import Backbone
from regard.data.images.extraction import decode_for, half_features
from regard.data.pictures import HeldGrids, Picture
from regard.explorer.bodies import Refused
from regard.views.seen_image import SeenImage, keep_image

#: How many are held; the one that was used longest ago goes first.
MOST_PHOTOS = 24


@dataclass(frozen=True)
class Photo:
    """A photo and what each model reads of it, in the order of the shelf.

    name: as its file was called. seen: with the grid that each model lays over it.
    """

    name: str
    pictures: tuple[Picture, ...]
    seen: tuple[SeenImage, ...]


class Photos:
    """Photos by names that are made of their bytes. Any thread may ask."""

    def __init__(self, backbones: Sequence[Backbone]) -> None:
        self._backbones = backbones
        self._held: OrderedDict[str, Photo] = OrderedDict()
        self._lock = Lock()

    def keep(self, data: bytes, name: str) -> tuple[str, Photo]:
        """Read a photo once for all models. Raises UserError for whatever is none."""
        key = hashlib.sha256(data + name.encode("utf-8", "replace")).hexdigest()
        known = self._find(key)
        if known is None:
            known = _read(data, name, self._backbones)
            with self._lock:
                self._held[key] = known
                while len(self._held) > MOST_PHOTOS:
                    self._held.popitem(last=False)
        return key, known

    def get(self, key: str) -> Photo:
        """One that was kept. Raises Refused where it no longer is."""
        photo = self._find(key)
        if photo is None:
            raise Refused(410, "this photo is no longer held here; drop it again")
        return photo

    def _find(self, key: str) -> Photo | None:
        with self._lock:
            photo = self._held.get(key)
            if photo is not None:
                self._held.move_to_end(key)
            return photo


def _read(data: bytes, name: str, backbones: Sequence[Backbone]) -> Photo:
    known: dict[str, tuple[Picture, SeenImage]] = {}
    for backbone in backbones:
        if backbone.fingerprint in known:
            continue
        image = decode_for(backbone, data, name)
        grid = half_features(image, name, backbone).float()
        rows, columns = backbone.rows, backbone.columns
        known[backbone.fingerprint] = (
            Picture(HeldGrids(grid, rows, columns), 0),
            keep_image(image, backbone.covered(*image.size), rows, columns),
        )
    both = [known[backbone.fingerprint] for backbone in backbones]
    return Photo(name, tuple(each for each, _ in both), tuple(each for _, each in both))
