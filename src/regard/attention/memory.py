"""What can be attended over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

AnyMemory = TypeVar("AnyMemory", bound="Memory")


@dataclass(frozen=True)
class Memory:
    """Keys, values, their mask, and what an attention computed from them once and for all.

    Immutable: ``append`` and ``select`` give new memories. As an encoder makes it, ``key`` and
    ``value`` are ``[batch, positions, size]``; as ``Attention.prepare`` makes it (``prepared``),
    they are projected and split: ``[batch, heads, positions, size]``.

    Attributes:
        key: what queries are compared with.
        value: what is summed.
        key_mask: ``[batch, positions]``, True = real; None = all real.
        derived: more tensors ``[batch, heads, positions, ...]`` that spare a score some work.
        prepared: whether an attention has projected it.
        start: where the first position stands, those after it follow one by one; None where the
            attention does not ask, and then they count from 0.
        key_positions: ``[batch or 1, positions]``, where each stands, if not one by one.
    """

    key: Float[Tensor, "batch *heads positions key_size"]
    value: Float[Tensor, "batch *heads positions value_size"]
    key_mask: Bool[Tensor, "batch positions"] | None = None
    derived: tuple[Tensor, ...] = ()
    prepared: bool = False
    start: int | None = None
    key_positions: Int[Tensor, "rows positions"] | None = None

    @property
    def batch(self) -> int:
        """How many rows there are."""
        return self.key.shape[0]

    @property
    def positions(self) -> int:
        """How many positions there are, padding included."""
        return self.key.shape[-2]

    @property
    def places(self) -> Int[Tensor, "rows positions"]:
        """Where each position stands."""
        if self.key_positions is not None:
            return self.key_positions
        first = self.start or 0
        return torch.arange(first, first + self.positions, device=self.key.device)[None]

    def append(self: AnyMemory, other: Memory) -> AnyMemory:
        """Join the positions of ``other`` (prepared by the same attention): a key-value cache.

        Where the attention knows positions, ``Attention.extend`` prepares and appends in one.

        Raises:
            ValueError: one of them is not prepared, or ``other`` was prepared for another place.
        """
        if self.prepared != other.prepared:
            raise ValueError("append: both memories must be prepared by the same attention")
        key_mask = None
        if self.key_mask is not None or other.key_mask is not None:
            key_mask = torch.cat([self._full_mask(), other._full_mask()], dim=1)
        return replace(
            self,
            key=torch.cat([self.key, other.key], dim=-2),
            value=torch.cat([self.value, other.value], dim=-2),
            key_mask=key_mask,
            # What only one of them keeps (additive scores: where keys are small) is not kept.
            derived=tuple(
                torch.cat([mine, new], dim=2)
                for mine, new in zip(self.derived, other.derived, strict=False)
            ),
            key_positions=self._joined_places(other),
        )

    def select(self: AnyMemory, indices: Int[Tensor, " rows"]) -> AnyMemory:
        """The rows named by ``indices``, in that order; repeats allowed. What beam search does."""
        value = self.value.index_select(0, indices) if self.value is not self.key else None
        key = self.key.index_select(0, indices)
        places = self.key_positions
        if places is not None and places.shape[0] > 1:
            places = places.index_select(0, indices)
        return replace(
            self,
            key=key,
            value=key if value is None else value,
            key_mask=None if self.key_mask is None else self.key_mask.index_select(0, indices),
            derived=tuple(tensor.index_select(0, indices) for tensor in self.derived),
            key_positions=places,
        )

    def _joined_places(self, other: Memory) -> Int[Tensor, "rows positions"] | None:
        if self.key_positions is None and other.key_positions is None:
            if self.start is not None and other.start != self.start + self.positions:
                raise ValueError(
                    f"append: prepared for position {other.start}, but it would stand at "
                    f"{self.start + self.positions}: use attention.extend(memory, key)"
                )
            return None
        if other.key_positions is None and self.positions and self.start is not None:
            raise ValueError(
                "append: this memory was prepared with positions, what is appended without: "
                "use attention.extend(memory, key)"
            )
        mine, new = self.places, other.places
        rows = max(mine.shape[0], new.shape[0])
        return torch.cat([mine.expand(rows, -1), new.expand(rows, -1)], dim=1)

    def _full_mask(self) -> Bool[Tensor, "batch positions"]:
        if self.key_mask is not None:
            return self.key_mask
        shape = (self.batch, self.positions)
        return torch.ones(shape, dtype=torch.bool, device=self.key.device)
