"""Bahdanau's additive score, and Luong's concat, which is the same function of other matrices."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.kernels.additive import exponentials, factored_additive_scores


def additive_scores(
    query: Float[Tensor, "batch heads queries size"],
    key: Float[Tensor, "batch heads positions size"],
    v_a: Float[Tensor, "heads size"],
) -> Float[Tensor, "batch heads queries positions"]:
    """``e_ij = v_a . tanh(query_i + key_j)`` of a projected query and key, as it is written.

    With ``query = W_a s_{i-1}`` and ``key = U_a h_j`` this is Bahdanau et al. 2015, appendix A.1.2
    (EQUATIONS A5); with the two halves of ``W_a [s; h]`` it is Luong et al. 2015, eq. 8, concat
    (A7). This is the reference; ``AdditiveScore`` runs the factored kernel, which keeps no
    ``[batch, heads, queries, positions, size]`` tensor.
    """
    hidden = torch.tanh(query[:, :, :, None, :] + key[:, :, None, :, :])
    return torch.einsum("bhqkd,hd->bhqk", hidden, v_a)


class AdditiveScore(nn.Module):
    """Holds ``v_a``, one vector a head. ``W_a`` and ``U_a`` are the query and key projections.

    With ``coverage`` also ``w_c``: how a key looks once it has been attended to. The score is then
    ``v_a . tanh(query_i + key_j + w_c coverage_ij)`` (See et al. 2017, eq. 11).
    """

    def __init__(self, heads: int, size: int, *, coverage: bool = False) -> None:
        super().__init__()
        self.v_a = nn.Parameter(torch.empty(heads, size))
        nn.init.xavier_uniform_(self.v_a)
        self.w_c: nn.Parameter | None = None
        if coverage:
            self.w_c = nn.Parameter(torch.empty(heads, size))
            nn.init.xavier_uniform_(self.w_c)

    def derive(self, key: Float[Tensor, "batch heads positions size"]) -> tuple[Tensor, ...]:
        """What is computed once per memory: ``exp(2 U_a h_j)``, where the kernel may use it."""
        return () if self.w_c is not None else exponentials(key)

    def cover(
        self,
        key: Float[Tensor, "batch heads positions size"],
        coverage: Float[Tensor, "batch heads positions"],
    ) -> Float[Tensor, "batch heads positions size"]:
        """Keys as they look after so much attention: ``key_j + w_c coverage_j``."""
        assert self.w_c is not None
        return key + coverage[..., None] * self.w_c[None, :, None, :]

    def forward(
        self,
        query: Float[Tensor, "batch heads queries size"],
        key: Float[Tensor, "batch heads positions size"],
        derived: tuple[Tensor, ...] = (),
    ) -> Float[Tensor, "batch heads queries positions"]:
        """Scores of every query against every key."""
        return factored_additive_scores(query, key, self.v_a, derived)
