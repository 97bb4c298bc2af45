"""Grids: for each image, vectors of features in rows and columns, from wherever they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jaxtyping import Float
from torch import Tensor


class Grids(Protocol):
    """The features of a list of images, addressed by their place in that list.

    rows, columns: of every grid; positions are row by row from the top left, so the vector of a
        cell is at `row * columns + column`.
    size: numbers in each vector.
    views: how many views there are of each image, at least 1; view 0 is the image as it is.
    """

    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def views(self) -> int: ...

    def __len__(self) -> int:
        """How many images there are."""

    def batch(
        self, indices: Sequence[int], views: Sequence[int] | None = None
    ) -> Float[Tensor, "batch positions size"]:
        """The features of some images, float32, on the CPU.

        views: which view of each; None = view 0 of all.
        """
