"""Masks of nearness: sliding windows, and the local attention of Luong."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.memory import Memory


def sliding_window(
    queries: Int[Tensor, "rows queries"],
    keys: Int[Tensor, "rows positions"],
    before: int,
    after: int,
) -> Bool[Tensor, "rows 1 queries positions"]:
    """Keys from ``before`` positions before a query to ``after`` positions after it.

    >>> positions = torch.arange(4)[None]
    >>> sliding_window(positions, positions, 1, 0)[0, 0].int().tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    """
    offset = (keys[:, None, :] - queries[:, :, None])[:, None]
    return (offset >= -before) & (offset <= after)


class Focus(NamedTuple):
    """Where local attention looks: a mask, and what the weights are multiplied by, if anything."""

    mask: Bool[Tensor, "batch heads queries positions"]
    factor: Float[Tensor, "batch heads queries positions"] | None


class LocalMonotonic(nn.Module):
    """local-m: query i sees the positions ``[i - D, i + D]`` (Luong et al. 2015, section 3.2).

    Args:
        width: D, positions to each side.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(
        self,
        query: Float[Tensor, "batch queries size"],
        queries: Int[Tensor, "rows queries"],
        keys: Int[Tensor, "rows positions"],
        lengths: Int[Tensor, "rows 1"],
    ) -> Focus:
        """Only where the query stands counts, not what it is."""
        return Focus(sliding_window(queries, keys, self.width, self.width), None)


class LocalPredictive(nn.Module):
    """local-p: each query predicts where to look (Luong et al. 2015, eq. 9 and 10; EQUATIONS A17).

    ``p_i = S sigmoid(v_p . tanh(W_p s_i))``, S the number of real positions. The softmax runs over
    the positions ``|j - p_i| <= D``, counted from 1 as in the paper; its weights are multiplied by
    ``exp(-(j - p_i)^2 / (2 (D/2)^2))`` and, as in the paper, not made to sum to 1 again.

    Args:
        query_size: size of ``s_i``.
        heads: each predicts its own position.
        width: D, positions to each side.
    """

    def __init__(self, query_size: int, heads: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.W_p = nn.Linear(query_size, query_size, bias=False)
        self.v_p = nn.Linear(query_size, heads, bias=False)
        nn.init.xavier_uniform_(self.W_p.weight)
        nn.init.xavier_uniform_(self.v_p.weight)

    def center(
        self, query: Float[Tensor, "batch queries size"], lengths: Int[Tensor, "rows 1"]
    ) -> Float[Tensor, "batch heads queries"]:
        """``p_i``, between 0 and S, in at least float32."""
        share = self.v_p(torch.tanh(self.W_p(query))).transpose(1, 2)
        precise = torch.promote_types(share.dtype, torch.float32)
        return lengths[:, :, None] * torch.sigmoid(share.to(precise))

    def forward(
        self,
        query: Float[Tensor, "batch queries size"],
        queries: Int[Tensor, "rows queries"],
        keys: Int[Tensor, "rows positions"],
        lengths: Int[Tensor, "rows 1"],
    ) -> Focus:
        """The window about each predicted position, and the Gaussian over it."""
        offset = keys[:, None, None, :] + 1 - self.center(query, lengths)[..., None]
        factor = torch.exp(-2.0 * (offset / self.width).square())  # deviation D / 2
        return Focus(offset.abs() <= self.width, factor)


def make_local(
    kind: str | None, query_size: int, heads: int, width: int
) -> LocalMonotonic | LocalPredictive | None:
    """Luong's local attention of that kind."""
    if kind is None:
        return None
    if width < 1:
        raise ValueError(f"local_width must be at least 1, not {width}")
    if kind == "monotonic":
        return LocalMonotonic(width)
    if kind == "predictive":
        return LocalPredictive(query_size, heads, width)
    raise ValueError(f"local {kind!r} is none of monotonic, predictive")


def check_window(window: int | tuple[int, int] | None) -> tuple[int, int] | None:
    """A sliding window as (before, after)."""
    if window is None:
        return None
    before, after = (window, window) if isinstance(window, int) else window
    if before < 0 or after < 0:
        raise ValueError(f"window must not be negative, not {window}")
    return before, after


def local_places(
    memory: Memory,
) -> tuple[Int[Tensor, "rows positions"], Int[Tensor, "rows 1"]]:
    """Each key's place among the real ones, from 0, and how many real ones there are (S)."""
    if memory.key_mask is None:
        places = memory.places
        return places, places.new_full((1, 1), memory.positions)
    lengths = memory.key_mask.sum(1, keepdim=True)
    if memory.key_positions is not None:
        return memory.key_positions, lengths
    return memory.key_mask.long().cumsum(1) - 1, lengths
