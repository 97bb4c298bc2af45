"""Symbols as vectors."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.dropout import dropout


@dataclass(frozen=True)
class Lookup:
    """Vectors that are rows of a table, before they are looked up: ``table[tokens]``.

    What is linear in them can be done with the table's rows instead, which are fewer.
    """

    table: Float[Tensor, "symbols size"]
    tokens: Int[Tensor, "batch steps"]

    @property
    def shape(self) -> torch.Size:
        """Of the vectors: batch, steps, size."""
        return torch.Size((*self.tokens.shape, self.table.shape[1]))

    def vectors(self) -> Float[Tensor, "batch steps size"]:
        """The rows of all tokens."""
        return F.embedding(self.tokens, self.table)


def vectors(read: Tensor | Lookup) -> Float[Tensor, "batch steps size"]:
    """The vectors themselves, looked up if they are not yet."""
    return read.vectors() if isinstance(read, Lookup) else read


def drop_words(read: Tensor | Lookup, probability: float, training: bool) -> Tensor | Lookup:
    """Word dropout: each token's whole vector is zero with ``probability``, else scaled.

    ``read``: vectors ``[*batch, size]``, or where they are looked up. A token is dropped at each
    place by itself, and what is kept is scaled so that its mean stays (Sennrich, Haddow and Birch
    2016, "Edinburgh Neural Machine Translation Systems for WMT 16", and Nematus and Marian after
    it). Gal and Ghahramani 2016 drop all occurrences in a sentence together.
    """
    if not training or not probability:
        return read
    whole = torch.ones(read.shape[:-1], dtype=_table(read).dtype, device=_table(read).device)
    kept = dropout(whole, probability, training)
    if isinstance(read, Tensor):
        return read * kept[..., None]
    table = F.pad(read.table * kept.amax(), (0, 0, 0, 1))  # and a row of zeros, for the dropped
    return Lookup(table, read.tokens.masked_fill(kept == 0, len(read.table)))


def _table(read: Tensor | Lookup) -> Tensor:
    return read.table if isinstance(read, Lookup) else read


class Embedding(nn.Module):
    """Rows of one matrix, scaled, with dropout.

    ``by_symbol`` draws one dropout mask for all occurrences of a symbol in a batch (as Gal and
    Ghahramani 2016 do within a sentence), not one for each.

    Initialised from N(0, 1/size); with ``scale = sqrt(size)`` rows enter at unit variance, and the
    same matrix can serve as output weights (Vaswani et al. 2017, section 3.4).
    """

    def __init__(
        self, vocabulary: int, size: int, *, scale: float = 1.0, by_symbol: bool = False
    ) -> None:
        super().__init__()
        self.scale = scale
        self.by_symbol = by_symbol
        self.weight = nn.Parameter(nn.init.normal_(nn.Linear(size, vocabulary).weight.data))
        self.weight.data.mul_(size**-0.5)

    def forward(self, tokens: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch size"]:
        """Vectors of the tokens."""
        vectors = F.embedding(tokens, self.weight)
        return vectors if self.scale == 1.0 else vectors * self.scale

    def read(
        self, tokens: Int[Tensor, "batch steps"], probability: float, training: bool
    ) -> Tensor | Lookup:
        """Vectors of the tokens with dropout; a table of them where a row serves all occurrences.

        The table has no more rows than there are tokens.
        """
        if training and probability and not self.by_symbol:
            return dropout(self(tokens), probability, training)
        symbols = torch.arange(len(self.weight), device=tokens.device)
        if len(self.weight) > tokens.numel():
            symbols, tokens = torch.unique(tokens, return_inverse=True)
        return Lookup(dropout(self(symbols), probability, training), tokens)
