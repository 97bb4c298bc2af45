"""Luong's general (bilinear) score."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.scores.dot import dot_scores


def general_scores(
    query: Float[Tensor, "batch heads queries query_size"],
    key: Float[Tensor, "batch heads positions key_size"],
    W_a: Float[Tensor, "heads query_size key_size"],
) -> Float[Tensor, "batch heads queries positions"]:
    """``e_ij = q_i^T W_a k_j`` (Luong et al. 2015, eq. 8, general; EQUATIONS A7)."""
    return dot_scores(transformed(query, W_a), key)


def transformed(
    query: Float[Tensor, "batch heads queries query_size"],
    W_a: Float[Tensor, "heads query_size key_size"],
) -> Float[Tensor, "batch heads queries key_size"]:
    """``q_i^T W_a`` of every query."""
    batch, _, queries, _ = query.shape
    # As one product a head: a broadcast one would make a gradient of W_a for every text.
    rows = query.transpose(0, 1).flatten(1, 2)
    return torch.bmm(rows, W_a).unflatten(1, (batch, queries)).transpose(0, 1)


class GeneralScore(nn.Module):
    """Holds ``W_a``, one matrix a head (EQUATIONS A7)."""

    scale = 1.0

    def __init__(self, heads: int, query_size: int, key_size: int) -> None:
        super().__init__()
        self.W_a = nn.Parameter(torch.empty(heads, query_size, key_size))
        for matrix in self.W_a:
            nn.init.xavier_uniform_(matrix)

    def transform(
        self, query: Float[Tensor, "b h q query_size"]
    ) -> Float[Tensor, "b h q key_size"]:
        """``q^T W_a``: after it, the score is a plain dot product with the key."""
        return transformed(query, self.W_a)

    def forward(
        self,
        query: Float[Tensor, "batch heads queries query_size"],
        key: Float[Tensor, "batch heads positions key_size"],
        derived: tuple[Tensor, ...] = (),
    ) -> Float[Tensor, "batch heads queries positions"]:
        """Scores of every query against every key."""
        return general_scores(query, key, self.W_a)
