"""Attentions of every score, with and without heads and projections; inputs of odd sizes.

Batch, queries, positions and all sizes differ from each other, so that no transposition and no
broadcast can pass unseen.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import Attention

BATCH, QUERIES, POSITIONS = 2, 3, 5


@dataclass(frozen=True)
class Case:
    """Sizes of query, key and value, and how to make the attention."""

    sizes: tuple[int, int, int]
    options: dict[str, Any] = field(default_factory=dict)

    def make(self, **more: Any) -> Attention:
        """A new attention in evaluation mode; biases random too."""
        attention = Attention(*self.sizes, **{**self.options, **more})
        for parameter in attention.parameters():
            if parameter.dim() == 1:
                torch.nn.init.normal_(parameter)
        return attention.eval()

    def inputs(
        self, dtype: torch.dtype = torch.float32, positions: int = POSITIONS, queries: int = QUERIES
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value."""
        query, key, value = self.sizes
        return (
            torch.randn(BATCH, queries, query, dtype=dtype),
            torch.randn(BATCH, positions, key, dtype=dtype),
            torch.randn(BATCH, positions, value, dtype=dtype),
        )

    def __str__(self) -> str:
        options = dict(self.options)
        projected = options.pop("project", None)
        words = [options["score"], f"{options.get('heads', 1)} heads"]
        if projected is not None:
            words.append("projected" if projected is True else f"project {projected}")
        return ", ".join(words)


CASES = [
    Case((6, 6, 7), {"score": "dot"}),
    Case((6, 6, 7), {"score": "scaled_dot"}),
    Case((6, 8, 7), {"score": "general"}),
    Case((6, 8, 7), {"score": "additive", "hidden_size": 10}),
    Case((6, 8, 7), {"score": "concat", "hidden_size": 10}),
    Case((6, 8, 7), {"score": "dot", "heads": 3, "hidden_size": 12, "output_size": 10}),
    Case((6, 8, 7), {"score": "scaled_dot", "heads": 3, "hidden_size": 12, "output_size": 10}),
    Case((6, 8, 7), {"score": "general", "heads": 3, "hidden_size": 12}),
    Case((6, 8, 7), {"score": "additive", "heads": 2, "hidden_size": 10}),
    Case((6, 8, 4), {"score": "general", "heads": 2, "project": False}),
    Case((6, 6, 9), {"score": "scaled_dot", "heads": 3, "project": False}),
    Case((6, 8, 4), {"score": "additive", "heads": 2, "hidden_size": 10, "project": False}),
    Case((6, 8, 9), {"score": "scaled_dot", "hidden_size": 10, "project": ("query", "key")}),
    Case((6, 8, 9), {"score": "concat", "hidden_size": 10, "project": ("value", "output")}),
]

every_case = pytest.mark.parametrize("case", CASES, ids=str)
need_weights = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "weights"])


def random_mask(*shape: int, seed: int = 3) -> Tensor:
    """True about two times in three, and in every row at least once."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.65
    mask[..., 0] |= ~mask.any(-1)
    return mask


def gradients(attention: Attention) -> list[Tensor]:
    """Those of its parameters that took part, copied."""
    return [p.grad.clone() for p in attention.parameters() if p.grad is not None]
