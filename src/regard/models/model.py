"""A model: encoder -> memory -> decoder -> log-probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.scores import LocationScore
from regard.models.decoders import Decoder, SelfAttentiveDecoder
from regard.models.decoders.decoding import Chosen, Decoding
from regard.models.encoded import Encoded
from regard.models.encoders import (
    Encoder,
    FeatureEncoder,
    GridEncoder,
    RecurrentEncoder,
    TransformerEncoder,
    UniversalEncoder,
)
from regard.nn.dropout import dropout
from regard.nn.embedding import Embedding, Lookup, drop_words, vectors
from regard.nn.halting import Pondered
from regard.nn.output import OutputLayer
from regard.nn.positions import Start
from regard.nn.randomness import whole_numbers

#: What is read: the ids of texts, or the features of pictures.
Source = Int[Tensor, "batch positions"] | Float[Tensor, "batch positions size"]


class Step(NamedTuple):
    """What one decoding step gives."""

    log_probabilities: Float[Tensor, "batch vocabulary"]
    state: Any
    attention: Float[Tensor, "batch source"] | None


class Decoded(NamedTuple):
    """What all teacher-forced steps give."""

    log_probabilities: Float[Tensor, "batch steps vocabulary"]
    attention: Float[Tensor, "batch steps source"] | None


class Features(NamedTuple):
    """What an output layer reads, row by row, and what else a loss may ask about making it.

    source, target: what was pondered of the real positions, where steps of the encoder or decoder
        are adaptive.
    attention: mean over heads of what was attended to, where it was asked for.
    chosen: the positions that hard attention drew, if it did.
    """

    values: Float[Tensor, "tokens size"]
    source: Pondered | None = None
    target: Pondered | None = None
    attention: Float[Tensor, "batch steps source"] | None = None
    chosen: Chosen | None = None


class TokenLosses(NamedTuple):
    """What each real target token costs, in nats, row by row.

    Attributes:
        negative_log_likelihood: ``-log p`` of the token.
        spread: the mean of ``-log p`` over the target vocabulary, for label smoothing.
    """

    negative_log_likelihood: Float[Tensor, " tokens"]
    spread: Float[Tensor, " tokens"]


class Model(nn.Module):
    """Two faces with the same numbers: ``start`` and ``step``, and ``forward`` over all positions.

    Nothing is kept on the module between calls: one model serves many requests at once.

    Attributes:
        fused_output: whether log-probabilities are those of the output layer alone, so that a loss
            may fuse ``features`` and ``output_weights``; else it needs ``token_losses``.
        copies: whether it copies: sources and targets may then have ids beyond the vocabularies,
            for symbols that were never seen.
        position_offset: in training, the positions of each pair are counted from a random number of
            0 to this (Dehghani et al. 2019, section 3.4).
        source_word_dropout, target_word_dropout: in training, how likely a token of the source, and
            one that the decoder reads, is dropped whole (`regard.nn.embedding.drop_words`).
    """

    fused_output: bool = True
    copies: bool = False
    position_offset: int = 0
    source_word_dropout: float = 0.0
    target_word_dropout: float = 0.0
    decoder: Any  # what it gives is the business of its kind of model

    def __init__(
        self,
        source_embedding: Embedding | None,
        target_embedding: Embedding,
        encoder: Encoder,
        decoder: Decoder,
        output: OutputLayer,
        dropout: float,
        feature_encoder: FeatureEncoder | None = None,
    ) -> None:
        super().__init__()
        self.source_embedding = source_embedding
        self.target_embedding = target_embedding
        self.encoder = encoder
        self.decoder = decoder
        self.output = output
        self.dropout = dropout
        self.feature_encoder = feature_encoder

    def encode(self, source: Source, source_mask: Bool[Tensor, "batch positions"]) -> Encoded:
        """The source as a memory; positions where ``source_mask`` is False count for nothing."""
        if not (self.training and self.position_offset):
            return self._encode(source, source_mask, 0)
        offset = whole_numbers(len(source), self.position_offset).to(source.device)
        return replace(self._encode(source, source_mask, offset), offset=offset)

    def _encode(self, source: Source, source_mask: Tensor, offset: Start) -> Encoded:
        if isinstance(self.encoder, GridEncoder):
            return self.encoder(source, source_mask)
        reader = self.feature_encoder
        if reader is None:
            return self._encode_text(source, source_mask, offset)
        parts = reader.split(source, source_mask)
        text = self._encode_text(parts.text, parts.text_mask, offset)
        features = reader(parts.features, parts.features_mask)
        return reader.join(text, features, source, source_mask)

    def _encode_text(self, source: Tensor, source_mask: Tensor, offset: Start = 0) -> Encoded:
        assert self.source_embedding is not None
        embedded = self.source_embedding.read(source, self.dropout, self.training)
        embedded = drop_words(embedded, self.source_word_dropout, self.training)
        if isinstance(self.encoder, RecurrentEncoder):
            return self.encoder(embedded, source_mask)
        return self.encoder(vectors(embedded), source_mask, offset)

    def pondering(self, memory: Encoded) -> Float[Tensor, "batch positions 2"] | None:
        """Steps that each source position took and what they cost (N and N + R), if adaptive."""
        return None if memory.pondered is None else memory.pondered.pairs

    def start(self, memory: Encoded) -> Any:
        """The state before the first token: everything about the source is projected here."""
        return self.decoder.start(memory)

    def step(self, tokens: Int[Tensor, " batch"], state: Any) -> Step:
        """Read one token a row; log-probabilities of the next one."""
        features, state, attention = self.decoder.advance(self._embed_step(tokens), state)[:3]
        return Step(self.output(features), state, attention)

    def forward(
        self,
        source: Source,
        source_mask: Bool[Tensor, "batch positions"],
        inputs: Int[Tensor, "batch steps"],
        need_weights: bool = True,
    ) -> Decoded:
        """Log-probabilities of every step, each having read ``inputs`` up to its own position."""
        decoding = self.all_steps(self.encode(source, source_mask), inputs, need_weights)
        return Decoded(self.output(decoding.features), decoding.attention)

    def all_steps(
        self, memory: Encoded, inputs: Int[Tensor, "batch steps"], need_weights: bool = False
    ) -> Decoding:
        """What the decoder says of all steps, before the output layer."""
        decoding: Decoding = self.decoder(self._embed(inputs), memory, need_weights)
        return decoding

    @property
    def attention_layers(self) -> int:
        """How many attentions over the source there are to choose from; 0 = there is no choice."""
        layers: int = self.decoder.attention_layers
        return layers

    @property
    def attention_heads(self) -> int:
        """How many heads each of them has."""
        heads: int = self.decoder.attention_heads
        return heads

    def shown_attention(
        self,
        memory: Encoded,
        inputs: Int[Tensor, "batch steps"],
        outputs: Int[Tensor, "batch steps"],
        mask: Bool[Tensor, "batch steps"],
    ) -> Float[Tensor, "batch steps source"] | None:
        """What is shown of given targets, as `step` shows it; None where there is no attention."""
        return self.all_steps(memory, inputs, need_weights=True).attention

    def attention_by_layer(
        self, memory: Encoded, inputs: Int[Tensor, "batch steps"]
    ) -> Iterator[Float[Tensor, "batch heads steps source"]]:
        """What each head attends to, layer after layer; a layer is computed when it is asked for.

        A recurrent decoder has one layer at most, a Universal Transformer one for each step, and
        hard attention none.
        """
        if self.attention_layers:
            yield from self.decoder.attention_by_layer(self._embed(inputs), memory)

    def encoder_attention_by_layer(
        self, source: Source, source_mask: Bool[Tensor, "batch positions"]
    ) -> Iterator[Float[Tensor, "batch heads positions positions"]]:
        """What each position of the source attends to, layer after layer (or step after step).

        Only Transformers have such an attention, over texts or over the grids of pictures. Features
        that are read apart have none: rows and columns are those of the text alone.
        """
        if isinstance(self.encoder, GridEncoder):
            yield from self.encoder.self_attention_by_layer(source)
            return
        if not isinstance(self.encoder, TransformerEncoder | UniversalEncoder):
            return
        if self.feature_encoder is not None:
            parts = self.feature_encoder.split(source, source_mask)
            source, source_mask = parts.text, parts.text_mask
        assert self.source_embedding is not None
        embedded = vectors(self.source_embedding.read(source, self.dropout, self.training))
        yield from self.encoder.self_attention_by_layer(embedded, source_mask)

    def decoder_attention_by_layer(
        self, memory: Encoded, inputs: Int[Tensor, "batch steps"]
    ) -> Iterator[Float[Tensor, "batch heads steps steps"]]:
        """What each step attends to of what was read up to it; only Transformers have that."""
        if isinstance(self.decoder, SelfAttentiveDecoder):
            yield from self.decoder.self_attention_by_layer(vectors(self._embed(inputs)), memory)

    def features(
        self,
        source: Source,
        source_mask: Bool[Tensor, "batch positions"],
        inputs: Int[Tensor, "batch steps"],
        mask: Bool[Tensor, "batch steps"],
        need_weights: bool = False,
    ) -> Features:
        """What the output layer would read, of the real target positions alone."""
        memory = self.encode(source, source_mask)
        decoding = self.all_steps(memory, inputs, need_weights)
        target = None if decoding.pondered is None else decoding.pondered.among(mask)
        values = decoding.features[mask]
        return Features(values, memory.pondered, target, decoding.attention, decoding.chosen)

    def output_weights(self) -> tuple[Tensor, nn.Parameter]:
        """Weight ``[vocabulary, size]`` and bias ``[vocabulary]``, for a loss that fuses them."""
        return self.output.rows(), self.output.bias

    def token_losses(
        self,
        source: Source,
        source_mask: Bool[Tensor, "batch positions"],
        inputs: Int[Tensor, "batch steps"],
        outputs: Int[Tensor, "batch steps"],
        mask: Bool[Tensor, "batch steps"],
        need_spread: bool = True,
    ) -> TokenLosses:
        """What the real target tokens ``outputs[mask]`` cost, from the model's log-probabilities.

        Right for any model; one that can do with less than all of ``forward`` has its own. Without
        ``need_spread``, spread may be anything.
        """
        decoded = self(source, source_mask, inputs, need_weights=False)
        log_probabilities = decoded.log_probabilities[mask]
        chosen = log_probabilities.gather(1, outputs[mask][:, None]).squeeze(1)
        return TokenLosses(-chosen, -log_probabilities.mean(1))

    @property
    def longest_source(self) -> int | None:
        """Most source tokens that can be read and attended over, END included; None = any."""
        attention = getattr(self.decoder, "attention", None)
        score = None if attention is None else attention.score
        limits = [score.maximum_positions] if isinstance(score, LocationScore) else []
        if self.encoder.longest is not None:
            limits.append(self.encoder.longest)
        return min(limits, default=None)

    @property
    def longest_target(self) -> int | None:
        """Most target tokens that there can be, END included; None = any number."""
        longest: int | None = self.decoder.longest
        return longest

    def closed_target(self, ids: Int[Tensor, "*batch"]) -> Int[Tensor, "*batch"]:
        """Target ids as the embedding reads them: all of them are in its vocabulary."""
        return ids

    def _embed(self, tokens: Int[Tensor, "batch steps"]) -> Tensor | Lookup:
        """Target tokens for the decoder: a table of vectors for cells, which make use of one."""
        closed = self.closed_target(tokens)
        read = self.target_embedding.read(closed, self.dropout, self.training)
        read = drop_words(read, self.target_word_dropout, self.training)
        return vectors(read) if isinstance(self.decoder, SelfAttentiveDecoder) else read

    def _embed_step(self, tokens: Int[Tensor, " batch"]) -> Tensor | Lookup:
        """One step of `_embed`, ``[batch, 1, size]``; in training each row is dropped by itself.

        A table only where it has no more rows than there are tokens: looking for the different ones
        among them takes longer than it saves.
        """
        step = tokens[:, None]
        if not self.training and len(self.target_embedding.weight) <= len(tokens):
            return self._embed(step)
        embedded = self.target_embedding(self.closed_target(step))
        embedded = dropout(embedded, self.dropout, self.training)
        return vectors(drop_words(embedded, self.target_word_dropout, self.training))
