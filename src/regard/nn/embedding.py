"""Symbols as vectors."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F


class Embedding(nn.Module):
    """Rows of one matrix, scaled, with dropout.

    Initialised from N(0, 1/size); with ``scale = sqrt(size)`` rows enter at unit variance, and the
    same matrix can serve as output weights (Vaswani et al. 2017, section 3.4).
    """

    def __init__(self, vocabulary: int, size: int, *, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(nn.init.normal_(nn.Linear(size, vocabulary).weight.data))
        self.weight.data.mul_(size**-0.5)

    def forward(self, tokens: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch size"]:
        """Vectors of the tokens."""
        vectors = F.embedding(tokens, self.weight)
        return vectors if self.scale == 1.0 else vectors * self.scale
