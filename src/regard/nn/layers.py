"""A list of modules that knows what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar, cast

from torch import nn

Layer = TypeVar("Layer", bound=nn.Module)


class Layers(nn.ModuleList, Generic[Layer]):
    """``nn.ModuleList`` whose members have a type."""

    def __iter__(self) -> Iterator[Layer]:
        return cast(Iterator[Layer], super().__iter__())

    def rest(self) -> list[Layer]:
        """All but the first."""
        return list(self)[1:]

    def first(self) -> Layer:
        """The first."""
        return next(iter(self))
