"""Position-wise feed-forward network."""

from __future__ import annotations

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class FeedForward(nn.Module):
    """``max(0, x W_1 + b_1) W_2 + b_2`` (Vaswani et al. 2017, eq. 2; EQUATIONS C2)."""

    def __init__(self, size: int, hidden_size: int, activation: str = "relu") -> None:
        super().__init__()
        self.inner = nn.Linear(size, hidden_size)
        self.outer = nn.Linear(hidden_size, size)
        self.activation = ACTIVATIONS[activation]
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, inputs: Float[Tensor, "*batch size"]) -> Float[Tensor, "*batch size"]:
        """Each position on its own."""
        return self.outer(self.activation(self.inner(inputs)))
