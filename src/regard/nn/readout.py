"""What stands between a recurrent decoder's state and its output layer."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.linear import glorot_linear
from regard.nn.kernels.affine import linear


class MaxoutReadout(nn.Module):
    """Deep output with maxout (Bahdanau et al. 2015, appendix A.2.2; EQUATIONS A6).

    ``t~_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i``; ``t_i = [max(t~_{i,2k-1}, t~_{i,2k})]_k``.
    The state is the *previous* one.
    """

    def __init__(self, state_size: int, embedding_size: int, context_size: int, size: int) -> None:
        super().__init__()
        self.linear = glorot_linear(state_size + embedding_size + context_size, 2 * size)

    def forward(
        self,
        state: Float[Tensor, "batch steps state_size"],
        embedded: Float[Tensor, "batch steps embedding_size"],
        context: Float[Tensor, "batch steps context_size"],
    ) -> Float[Tensor, "batch steps size"]:
        """Features for the output layer."""
        joined = linear(torch.cat([state, embedded, context], dim=-1), self.linear)
        pairs = joined.unflatten(-1, (-1, 2))
        return torch.maximum(pairs[..., 0], pairs[..., 1])


class AttentionalReadout(nn.Module):
    """``s~_i = tanh(W_c [c_i; s_i])`` (Luong et al. 2015, eq. 5; EQUATIONS A8), without bias."""

    def __init__(self, state_size: int, context_size: int, size: int) -> None:
        super().__init__()
        self.linear = glorot_linear(context_size + state_size, size, bias=False)

    def forward(
        self,
        state: Float[Tensor, "batch steps state_size"],
        context: Float[Tensor, "batch steps context_size"],
    ) -> Float[Tensor, "batch steps size"]:
        """Features for the output layer."""
        return torch.tanh(linear(torch.cat([context, state], dim=-1), self.linear))


class JoinedReadout(nn.Module):
    """``[c_i; s_i]`` as it is: ``p = softmax(U [c_i; s_i])`` (EQUATIONS A9). No parameters."""

    def forward(
        self,
        state: Float[Tensor, "batch steps state_size"],
        context: Float[Tensor, "batch steps context_size"],
    ) -> Float[Tensor, "batch steps joined_size"]:
        """Features for the output layer."""
        return torch.cat([context, state], dim=-1)


class DeepReadout(nn.Module):
    """``E y_{i-1} + L_h s_i + L_z c_i``, which the output layer's ``L_o`` reads.

    Xu et al. 2015, eq. 7 (EQUATIONS A11): the state is the new one. ``squash`` puts a tanh around
    it, which the authors' code has and the equation has not.
    """

    def __init__(
        self, state_size: int, embedding_size: int, context_size: int, *, squash: bool = False
    ) -> None:
        super().__init__()
        self.squash = squash
        self.L_h = nn.Linear(state_size, embedding_size)
        self.L_z = nn.Linear(context_size, embedding_size, bias=False)
        for each in (self.L_h, self.L_z):
            nn.init.xavier_uniform_(each.weight)
        nn.init.zeros_(self.L_h.bias)

    def forward(
        self,
        state: Float[Tensor, "batch steps state_size"],
        embedded: Float[Tensor, "batch steps embedding_size"],
        context: Float[Tensor, "batch steps context_size"],
    ) -> Float[Tensor, "batch steps embedding_size"]:
        """Features for the output layer."""
        summed = embedded + linear(state, self.L_h) + linear(context, self.L_z)
        return torch.tanh(summed) if self.squash else summed


Readout = MaxoutReadout | AttentionalReadout | JoinedReadout | DeepReadout


def make_readout(
    kind: str, state_size: int, embedding_size: int, context_size: int, size: int
) -> tuple[Readout | None, int]:
    """The readout of that kind and the size of its features; ``none`` reads the state itself.

    ``size`` is that of ``maxout`` and ``attentional``; the others follow from what they join.
    """
    if kind == "maxout":
        return MaxoutReadout(state_size, embedding_size, context_size, size), size
    if kind == "attentional":
        return AttentionalReadout(state_size, context_size, size), size
    if kind == "joined":
        return JoinedReadout(), context_size + state_size
    if kind in ("deep", "deep_tanh"):
        squash = kind == "deep_tanh"
        return DeepReadout(state_size, embedding_size, context_size, squash=squash), embedding_size
    if kind == "none":
        return None, state_size
    raise ValueError(f"readout {kind!r} is none of maxout, attentional, joined, deep, none")
