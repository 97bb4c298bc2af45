"""From decoder features to log-probabilities over the vocabulary."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class OutputLayer(nn.Module):
    """``log softmax(W t + b)``, always the log-softmax itself, never log(softmax) (EQUATIONS A15).

    Args:
        size: size of the features. vocabulary: how many symbols.
        weight: an embedding matrix ``[rows, size]`` to share, whose first ``vocabulary`` rows are
            used; None makes an own one.
    """

    def __init__(self, size: int, vocabulary: int, weight: nn.Parameter | None = None) -> None:
        super().__init__()
        if weight is not None and (len(weight) < vocabulary or weight.shape[1] != size):
            raise ValueError(
                f"a tied output needs an embedding of [{vocabulary}, {size}], "
                f"not {list(weight.shape)}"
            )
        self.vocabulary = vocabulary
        self.weight = nn.Parameter(torch.empty(vocabulary, size)) if weight is None else weight
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        if weight is None:
            nn.init.xavier_uniform_(self.weight)

    def rows(self) -> Tensor:
        """The weight of every symbol, ``[vocabulary, size]``."""
        whole = len(self.weight) == self.vocabulary
        return self.weight if whole else self.weight[: self.vocabulary]

    def forward(self, features: Float[Tensor, "*batch size"]) -> Float[Tensor, "*batch vocabulary"]:
        """Log-probabilities, in at least float32."""
        logits = F.linear(features, self.rows(), self.bias)
        precise = torch.promote_types(logits.dtype, torch.float32)
        return torch.log_softmax(logits, dim=-1, dtype=precise)
