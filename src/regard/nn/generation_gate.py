"""The switch between writing a symbol and copying one."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.linear import glorot_linear


class GenerationGate(nn.Module):
    """``p_gen = sigma(w_c . c_i + w_s . s_i + w_x . E y_{i-1} + b)``.

    See, Liu and Manning 2017, eq. 8. Gives the logit, what the logistic function is taken of.
    """

    def __init__(self, context_size: int, state_size: int, embedding_size: int) -> None:
        super().__init__()
        self.linear = glorot_linear(context_size + state_size + embedding_size, 1)

    def forward(
        self,
        context: Float[Tensor, "batch steps context_size"],
        state: Float[Tensor, "batch steps state_size"],
        embedded: Float[Tensor, "batch steps embedding_size"],
    ) -> Float[Tensor, "batch steps"]:
        """The logit of every step."""
        logit: Tensor = self.linear(torch.cat([context, state, embedded], dim=-1))
        return logit.squeeze(-1)
