"""Dot product and scaled dot product."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


def dot_scores(
    query: Float[Tensor, "batch heads queries size"],
    key: Float[Tensor, "batch key_heads positions size"],
    scale: float = 1.0,
) -> Float[Tensor, "batch heads queries positions"]:
    """``e_ij = scale * q_i . k_j``.

    ``scale`` 1 is Luong et al. 2015, eq. 8 (dot); ``1/sqrt(size)`` is Vaswani et al. 2017, eq. 1.
    Fewer heads of keys than of queries: each serves a group of neighbors (Ainslie et al. 2023).
    Half-precision inputs are multiplied in float32, and so returned, under autocast too: float16
    products overflow.
    """
    if torch.is_autocast_enabled(query.device.type):
        with torch.autocast(query.device.type, enabled=False):
            return dot_scores(query, key, scale)
    precise = torch.promote_types(query.dtype, torch.float32)
    query, key = query.to(precise) * scale, key.to(precise)
    if query.shape[1] == key.shape[1]:
        return query @ key.transpose(-1, -2)
    grouped = query.unflatten(1, (key.shape[1], -1))
    return torch.einsum("bgrqd,bgkd->bgrqk", grouped, key).flatten(1, 2)  # no key is repeated


class DotScore(nn.Module):
    """Dot product, scaled by ``1/sqrt(size)`` when ``scaled`` (EQUATIONS A7, B1, B2)."""

    def __init__(self, size: int, *, scaled: bool) -> None:
        super().__init__()
        self.scale = 1.0 / math.sqrt(size) if scaled else 1.0

    def transform(self, query: Float[Tensor, "b h q size"]) -> Float[Tensor, "b h q size"]:
        """The query as it is: the score is ``scale * transform(query) . key``."""
        return query

    def forward(
        self,
        query: Float[Tensor, "batch heads queries size"],
        key: Float[Tensor, "batch key_heads positions size"],
        derived: tuple[Tensor, ...] = (),
    ) -> Float[Tensor, "batch heads queries positions"]:
        """Scores of every query against every key."""
        return dot_scores(query, key, self.scale)
