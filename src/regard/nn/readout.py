"""What stands between a recurrent decoder's state and its output layer."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


class MaxoutReadout(nn.Module):
    """Deep output with maxout (Bahdanau et al. 2015, appendix A.2.2; EQUATIONS A6).

    ``t~_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i``; ``t_i = [max(t~_{i,2k-1}, t~_{i,2k})]_k``.
    The state is the *previous* one.
    """

    def __init__(self, state_size: int, embedding_size: int, context_size: int, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(state_size + embedding_size + context_size, 2 * size)
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(
        self,
        state: Float[Tensor, "batch steps state_size"],
        embedded: Float[Tensor, "batch steps embedding_size"],
        context: Float[Tensor, "batch steps context_size"],
    ) -> Float[Tensor, "batch steps size"]:
        """Features for the output layer."""
        joined = self.linear(torch.cat([state, embedded, context], dim=-1))
        pairs = joined.unflatten(-1, (-1, 2))
        return torch.maximum(pairs[..., 0], pairs[..., 1])


class AttentionalReadout(nn.Module):
    """``s~_i = tanh(W_c [c_i; s_i])`` (Luong et al. 2015, eq. 5; EQUATIONS A8), without bias."""

    def __init__(self, state_size: int, context_size: int, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(context_size + state_size, size, bias=False)
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(
        self,
        state: Float[Tensor, "batch steps state_size"],
        context: Float[Tensor, "batch steps context_size"],
    ) -> Float[Tensor, "batch steps size"]:
        """Features for the output layer."""
        return torch.tanh(self.linear(torch.cat([context, state], dim=-1)))
