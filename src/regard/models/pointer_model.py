"""A model that writes symbols by its output layer or copies them from the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.models.copies import (
    NEVER,
    NOTHING,
    Copies,
    copied_as,
    find_copies,
    log_shares,
    mixture,
)
from regard.models.decoders.decoding import Decoding
from regard.models.encoded import Encoded
from regard.models.model import Decoded, Model, Step, TokenLosses
from regard.nn.dropout import dropout

#: The id of symbols that were not seen, in every vocabulary.
UNKNOWN = 1
#: How many ids every vocabulary begins with that are no symbols of a text.
SPECIALS = 4


@dataclass(frozen=True)
class PointerState:
    """The decoder's state, and what can be copied."""

    decoder: Any
    copies: Copies
    pondering = None  # no decoder that copies has adaptive steps

    def select(self, indices: Int[Tensor, " rows"]) -> PointerState:
        """Any rows."""
        return PointerState(self.decoder.select(indices), self.copies.select(indices))

    def reorder(self, indices: Int[Tensor, " rows"]) -> PointerState:
        """Rows that keep their source."""
        return replace(self, decoder=self.decoder.reorder(indices))


class PointerModel(Model):
    """The pointer-generator mixture (See, Liu and Manning 2017, section 2.2).

    ``p(w) = p_gen softmax(...)(w) + (1 - p_gen) sum_{j: x_j = w} alpha_j``, in logarithms. What is
    attended to at positions that are never copied (the end symbol, features) goes to the output
    layer. Symbols never seen in training can be copied: their ids follow those of the vocabularies
    (`regard.models.copies`), they are read as UNKNOWN, and log-probabilities are as wide as the
    sentence of the batch with the most of them needs.

    Args:
        table: the target id that each source id is copied as, or NEVER. It belongs to the
            tokenizers, and is not saved with the weights.
        unseen: in training, each source's different symbols are read as UNKNOWN with this
            probability, and can then be copied alone, as if they had never been seen.
    """

    fused_output = False
    copies = True
    table: Tensor

    def __init__(self, *parts: Any, table: Sequence[int], unseen: float) -> None:
        super().__init__(*parts)
        self.register_buffer("table", torch.tensor(table), persistent=False)
        self.unseen = unseen

    @property
    def vocabulary(self) -> int:
        """How many symbols the target knows."""
        return len(self.output.bias)

    def closed_source(self, ids: Int[Tensor, "*batch"]) -> Int[Tensor, "*batch"]:
        """Source ids as an embedding reads them: UNKNOWN for what was never seen."""
        return torch.where(ids < len(self.table), ids, UNKNOWN)

    def closed_target(self, ids: Int[Tensor, "*batch"]) -> Int[Tensor, "*batch"]:
        """The same of target ids."""
        return torch.where(ids < self.vocabulary, ids, UNKNOWN)

    def encode(
        self, source: Int[Tensor, "batch positions"], source_mask: Bool[Tensor, "batch positions"]
    ) -> Encoded:
        """The source as a memory, with what can be copied of it."""
        memory = super().encode(self.closed_source(source), source_mask)
        return replace(memory, copies=self._copies(source, source_mask))

    def encoder_attention_by_layer(
        self, source: Int[Tensor, "batch positions"], source_mask: Bool[Tensor, "batch positions"]
    ) -> Iterator[Float[Tensor, "batch heads positions positions"]]:
        """As any model's; what was never seen is read as unknown."""
        yield from super().encoder_attention_by_layer(self.closed_source(source), source_mask)

    def start(self, memory: Encoded) -> PointerState:
        """The state before the first token."""
        assert memory.copies is not None
        return PointerState(self.decoder.start(memory), memory.copies)

    def step(self, tokens: Int[Tensor, " batch"], state: PointerState) -> Step:
        """Read one token a row; log-probabilities of the next one."""
        embedded = self._embed_step(tokens)
        features, moved, attention, copying = self.decoder.advance(embedded, state.decoder)
        shares = log_shares(copying.log_weights[:, None], copying.gate[:, None], state.copies)
        mixed = mixture(self.output(features)[:, None], *shares, state.copies)
        return Step(mixed[:, 0], PointerState(moved, state.copies), attention)

    def forward(
        self,
        source: Int[Tensor, "batch positions"],
        source_mask: Bool[Tensor, "batch positions"],
        inputs: Int[Tensor, "batch steps"],
        need_weights: bool = True,
    ) -> Decoded:
        """Log-probabilities of every step, each having read ``inputs`` up to its own position."""
        memory = self.encode(source, source_mask)
        assert memory.copies is not None
        decoding = self.all_steps(memory, inputs, need_weights)
        shares = _shares(decoding, memory.copies)
        mixed = mixture(self.output(decoding.features), *shares, memory.copies)
        return Decoded(mixed, decoding.attention)

    def token_losses(
        self,
        source: Int[Tensor, "batch positions"],
        source_mask: Bool[Tensor, "batch positions"],
        inputs: Int[Tensor, "batch steps"],
        outputs: Int[Tensor, "batch steps"],
        mask: Bool[Tensor, "batch steps"],
        need_spread: bool = True,
    ) -> TokenLosses:
        """What the real target tokens cost, without mixing the probabilities of all others.

        An output that only this sentence knows must be one of its source's.
        """
        copies = self._copies(source, source_mask)
        wanted = outputs[:, :, None] == copies.symbols[:, None, 1:]
        copied_alone = outputs >= self.vocabulary
        read = self.closed_source(source)
        if self.training and self.unseen:
            hidden = _draw(copies, self.unseen, self.vocabulary)
            read = torch.where(hidden.gather(1, copies.slots), UNKNOWN, read)
            inputs = torch.where(_is_any_of(inputs, copies, hidden), UNKNOWN, inputs)
            copied_alone = copied_alone | _is_any_of(outputs, copies, hidden)
        decoding = self.all_steps(super().encode(read, source_mask), inputs)
        generate, copied = (share[mask] for share in _shares(decoding, copies))
        logarithms = self.output(decoding.features[mask])
        targets = self.closed_target(outputs)[mask]
        generated = generate + logarithms.gather(1, targets[:, None]).squeeze(1)
        generated = generated.masked_fill(copied_alone[mask], NOTHING)
        pointed = torch.where(wanted[mask], copied, NOTHING).amax(1) if copied.shape[1] else None
        chosen = generated if pointed is None else torch.logaddexp(generated, pointed)
        spread = torch.zeros_like(chosen)
        if need_spread:
            rows = mask.nonzero()[:, 0]
            spread = _spread(logarithms, generate, copied, copies.symbols[rows, 1:])
        return TokenLosses(-chosen, spread)

    def _copies(self, source: Tensor, source_mask: Tensor) -> Copies:
        return find_copies(copied_as(source, source_mask, self.table), self.vocabulary)


def joint_table(source_vocabulary: int, target_vocabulary: int, features: int) -> list[int]:
    """The table of a joint vocabulary: each symbol as itself; specials and features never.

    Raises ValueError for two vocabularies, between which only their tokenizers know the way.
    """
    if source_vocabulary - features != target_vocabulary:
        raise ValueError("copying between two vocabularies needs a table of what is copied as what")
    symbols = range(SPECIALS, target_vocabulary)
    return [NEVER] * SPECIALS + list(symbols) + [NEVER] * features


def _shares(decoding: Decoding, copies: Copies) -> tuple[Tensor, Tensor]:
    assert decoding.copying is not None
    return log_shares(*decoding.copying, copies)


def _draw(copies: Copies, share: float, vocabulary: int) -> Bool[Tensor, "batch slots"]:
    """Some of the symbols that the target knows, each with that probability."""
    ones = torch.ones(copies.symbols.shape, device=copies.symbols.device)
    return (dropout(ones, share, training=True) == 0) & (copies.symbols < vocabulary)


def _is_any_of(
    tokens: Int[Tensor, "batch steps"], copies: Copies, chosen: Bool[Tensor, "batch slots"]
) -> Bool[Tensor, "batch steps"]:
    """Whether a token is one of its sentence's chosen symbols."""
    symbols = copies.symbols.masked_fill(~chosen, NEVER)
    return (tokens[:, :, None] == symbols[:, None]).any(-1)


def _spread(
    logarithms: Float[Tensor, "tokens vocabulary"],
    generate: Float[Tensor, " tokens"],
    copied: Float[Tensor, "tokens symbols"],
    symbols: Int[Tensor, "tokens symbols"],
) -> Float[Tensor, " tokens"]:
    """The mean of ``-log p`` over the target vocabulary.

    Only at the sentence's own symbols is the mixture other than the output layer's share of it, so
    only there is it computed.
    """
    vocabulary = logarithms.shape[1]
    own = logarithms.gather(1, symbols.clamp(max=vocabulary - 1)) + generate[:, None]
    more = torch.logaddexp(torch.zeros_like(own), copied - own)
    more = more.masked_fill(symbols >= vocabulary, 0.0)
    return -(generate + logarithms.mean(1) + more.sum(1) / vocabulary)
