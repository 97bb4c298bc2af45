"""Feature encoder: features read apart from the text, both in one memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.linear import glorot_linear
from regard.models.encoded import Encoded
from regard.nn.dropout import dropout
from regard.nn.embedding import Embedding
from regard.nn.recurrent import GRU


@dataclass(frozen=True)
class Parts:
    """A source whose features, its first symbols, and text were taken apart.

    Both parts are padded on the right; ids of features count from 0.
    """

    features: Int[Tensor, "batch features"]
    features_mask: Bool[Tensor, "batch features"]
    text: Int[Tensor, "batch text"]
    text_mask: Bool[Tensor, "batch text"]


class FeatureEncoder(nn.Module):
    """Embeddings of features, a bidirectional GRU over them alone, and a matrix to memory's size.

    The order and brackets of a tag's symbols tell what belongs to what, so that a set of them
    would not do; it is short, so that a small layer does. The text's encoder sees none of it: its
    states, and the first state of a decoder, are those of the text without features.

    Args:
        vocabulary: how many features there are.
        first: the id of the first one, the others follow.
        size: of embeddings, and of both directions together.
        memory_size: of the states that are attended over.
    """

    def __init__(
        self,
        vocabulary: int,
        first: int,
        *,
        size: int,
        memory_size: int,
        scale: float,
        dropout: float,
    ) -> None:
        super().__init__()
        self.first = first
        self.end = first + vocabulary
        self.dropout = dropout
        self.embedding = Embedding(vocabulary, size, scale=scale)
        half = max(1, size // 2)
        self.layer = GRU(size, half, directions=2)
        self.projection = glorot_linear(2 * half, memory_size)

    def forward(
        self, features: Int[Tensor, "batch features"], mask: Bool[Tensor, "batch features"]
    ) -> Float[Tensor, "batch features memory_size"]:
        """A state for each feature."""
        embedded = dropout(self.embedding(features), self.dropout, self.training)
        states, _ = self.layer.run(embedded, mask=mask)
        projected: Tensor = self.projection(states)
        return dropout(projected, self.dropout, self.training)

    def split(
        self, source: Int[Tensor, "batch positions"], mask: Bool[Tensor, "batch positions"]
    ) -> Parts:
        """Take features and text apart; the source is padded on the right."""
        real = mask.sum(1, keepdim=True)
        counts = self.is_feature(source, mask).sum(1, keepdim=True)
        longest = int(counts.max())
        places = torch.arange(source.shape[1], device=source.device)[None]
        features_mask = places[:, :longest] < counts
        features = (source[:, :longest] - self.first).masked_fill(~features_mask, 0)
        text_places = places[:, : max(1, int((real - counts).max()))]
        text_mask = text_places < real - counts
        text = source.gather(1, (text_places + counts).clamp(max=source.shape[1] - 1))
        return Parts(features, features_mask, text.masked_fill(~text_mask, 0), text_mask)

    def is_feature(
        self, source: Int[Tensor, "batch positions"], mask: Bool[Tensor, "batch positions"]
    ) -> Bool[Tensor, "batch positions"]:
        """Where a feature stands."""
        return (source >= self.first) & (source < self.end) & mask

    def join(
        self,
        text: Encoded,
        features: Float[Tensor, "batch features memory_size"],
        source: Int[Tensor, "batch positions"],
        mask: Bool[Tensor, "batch positions"],
    ) -> Encoded:
        """One memory with each state where its symbol stood; how it ended is as the text did."""
        apart = self.is_feature(source, mask)
        counts = apart.sum(1, keepdim=True)
        places = torch.arange(source.shape[1], device=source.device)[None]
        states = torch.cat([features, text.states], dim=1)
        after = (features.shape[1] + places - counts).clamp(max=states.shape[1] - 1)
        chosen = torch.where(apart, places, after)
        pondered = text.pondered
        if pondered is not None:
            of_text = (after - features.shape[1]).clamp(min=0)
            pondered = pondered.moved(of_text, mask & ~apart)
        both = states.gather(1, chosen[..., None].expand(-1, -1, states.shape[2]))
        key_mask = None if bool(mask.all()) else mask
        return replace(
            text, key=both, value=both, key_mask=key_mask, apart=apart, pondered=pondered
        )
