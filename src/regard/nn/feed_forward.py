"""Position-wise feed-forward network."""

from __future__ import annotations

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.dropout import dropout

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "swiglu": F.silu,
}


class FeedForward(nn.Module):
    """``max(0, x W_1 + b_1) W_2 + b_2`` (Vaswani et al. 2017, eq. 2; EQUATIONS C2).

    ``gelu`` in place of ``max(0, .)`` is the Gaussian error linear unit. ``swiglu`` is gated:
    ``(swish(x W_1 + b_1) * (x V + b_V)) W_2 + b_2`` (Shazeer 2020, eq. 6), half as many weights
    again; ``inner`` holds W_1 and V. Dropout, if any, is on what ``outer`` reads.
    """

    def __init__(
        self, size: int, hidden_size: int, activation: str = "relu", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.gated = activation == "swiglu"
        self.dropout = dropout
        self.inner = nn.Linear(size, 2 * hidden_size if self.gated else hidden_size)
        self.outer = nn.Linear(hidden_size, size)
        self.activation = ACTIVATIONS[activation]
        for matrix in (*self.inner.weight.split(hidden_size), self.outer.weight):
            nn.init.xavier_uniform_(matrix)
        for linear in (self.inner, self.outer):
            nn.init.zeros_(linear.bias)

    @property
    def plain(self) -> bool:
        """Whether nothing but ``max(0, .)`` is between the two linear layers."""
        return self.activation is F.relu and not self.gated and not (self.training and self.dropout)

    def forward(self, inputs: Float[Tensor, "*batch size"]) -> Float[Tensor, "*batch size"]:
        """Each position on its own."""
        return self.outer(self.activate(self.inner(inputs)))

    def activate(self, hidden: Float[Tensor, "*batch inner"]) -> Float[Tensor, "*batch hidden"]:
        """From what ``inner`` gives to what ``outer`` reads."""
        if self.gated:
            hidden, gate = hidden.chunk(2, dim=-1)
            hidden = self.activation(hidden) * gate
        else:
            hidden = self.activation(hidden)
        return dropout(hidden, self.dropout, self.training)
