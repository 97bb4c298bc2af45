"""Every head of every layer of one kind of attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

#: From the output to the source; of the source to itself; of the output to what came before.
Kind = Literal["cross", "encoder", "decoder"]


@dataclass(frozen=True, eq=False)
class AttentionStack:
    """What each position attends to, layer by layer and head by head.

    weights: `[layers, heads, rows, columns]`, float32: row i of a matrix adds up to 1. Rows are the
        tokens that attend (``encoder``: of the source; else of the output, each when it was
        predicted), columns what they attend to (``decoder``: what was read until then, the start
        symbol first and the last token left out; else the source).
    steps: whether the layers are steps of one layer, as in a Universal Transformer.
    mean: whether each layer has only the mean over its heads.
    """

    kind: Kind
    weights: Any
    steps: bool = False
    mean: bool = False

    def over_heads(self) -> AttentionStack:
        """The mean over the heads of each layer alone."""
        mean = self.weights.mean(axis=1, keepdims=True)
        return AttentionStack(self.kind, mean, self.steps, self.mean or self.weights.shape[1] > 1)

    def matrices(self) -> Iterator[Any]:
        """`[rows, columns]`, layer after layer, head after head."""
        for layer in self.weights:
            yield from layer
