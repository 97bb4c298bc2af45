"""Learned relative bias."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.positions.scheme import PositionScheme


def relative_buckets(
    offset: Int[Tensor, "*shape"], buckets: int, maximum_distance: int
) -> Int[Tensor, "*shape"]:
    """The bucket of every offset ``j - i`` of a key from its query (Raffel et al. 2020, 2.1).

    Half of the buckets are for keys behind the query and itself, half for those ahead. In each half
    the first half are single distances, the rest widen logarithmically up to ``maximum_distance``,
    beyond which all distances share the last.
    """
    half = buckets // 2
    distance = offset.abs()
    single = half // 2
    ratio = torch.log(distance.clamp(min=1).double() / single) / math.log(maximum_distance / single)
    wide = single + (ratio * (half - single) + 1e-9).long()  # exact powers stay whole
    bucket = torch.where(distance < single, distance, wide.clamp(max=half - 1))
    return bucket + half * (offset > 0).long()


class RelativeBias(PositionScheme):
    """A learned number for each head and bucket of distance is added to the scores.

    Args:
        heads: how many.
        buckets: how many kinds of offset there are; even, at least 4.
        maximum_distance: from here on all are one bucket.
    """

    def __init__(self, heads: int, buckets: int = 32, maximum_distance: int = 128) -> None:
        super().__init__()
        if buckets < 4 or buckets % 2:
            raise ValueError(f"buckets must be even and at least 4, not {buckets}")
        if maximum_distance <= buckets // 4:
            raise ValueError(
                f"maximum_distance must be above buckets / 4 = {buckets // 4}, "
                f"not {maximum_distance}"
            )
        self.heads = heads
        self.buckets = buckets
        self.maximum_distance = maximum_distance
        self.table = nn.Parameter(torch.zeros(heads, buckets))

    def bias(
        self, queries: Int[Tensor, "rows queries"], keys: Int[Tensor, "rows positions"]
    ) -> Float[Tensor, "rows heads queries positions"]:
        """The table's entry for every query and key."""
        offset = keys[:, None, :] - queries[:, :, None]
        chosen = relative_buckets(offset, self.buckets, self.maximum_distance)
        return self.table[:, chosen].transpose(0, 1)
