"""The gate of Show, Attend and Tell."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.linear import glorot_linear


class Gate(nn.Module):
    """``c_i = beta_i sum_j alpha_ij a_j``, ``beta_i = sigmoid(f_beta(s_{i-1}))``.

    How much the query wants to see at all: one number between 0 and 1 (Xu et al. 2015, section
    4.2.1; EQUATIONS A11).
    """

    def __init__(self, query_size: int) -> None:
        super().__init__()
        self.f_beta = glorot_linear(query_size, 1)

    def forward(
        self,
        query: Float[Tensor, "batch queries query_size"],
        context: Float[Tensor, "batch queries size"],
    ) -> Float[Tensor, "batch queries size"]:
        """The context, dimmed."""
        return torch.sigmoid(self.f_beta(query)) * context
