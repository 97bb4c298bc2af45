"""How a configuration becomes a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from regard.errors import UserError
from regard.models.configuration import (
    CopyingDecoderConfiguration,
    ModelConfiguration,
    TransformerLayerConfiguration,
)
from regard.models.decoders import (
    Decoder,
    HardAttentionDecoder,
    RecurrentDecoder,
    TransformerDecoder,
    UniversalDecoder,
)
from regard.models.encoders import (
    Encoder,
    FeatureEncoder,
    GridEncoder,
    GridShape,
    RecurrentEncoder,
    TransformerEncoder,
    UniversalEncoder,
)
from regard.models.hard_attention_model import HardAttentionModel
from regard.models.initialization import initialize
from regard.models.model import Model
from regard.models.pointer_model import PointerModel, joint_table
from regard.nn.embedding import Embedding
from regard.nn.output import OutputLayer


def build_model(
    configuration: ModelConfiguration,
    source_vocabulary: int,
    target_vocabulary: int,
    features: int = 0,
    copies: Sequence[int] | None = None,
    grid: GridShape | None = None,
) -> Model:
    """A freshly initialised model (from torch's global random state).

    Args:
        features: how many of the source's symbols, the last ones, are those of features.
        copies: for a model that copies, the target id that each source id is copied as, or -1.
            Default: itself, of a joint vocabulary.
        grid: what a model that reads pictures reads; it has no source vocabulary.

    Raises:
        UserError: sizes that cannot be joined.
    """
    try:
        return _build(configuration, source_vocabulary, target_vocabulary, features, copies, grid)
    except ValueError as error:
        raise UserError(f"model: {error}") from error


def _build(
    configuration: ModelConfiguration,
    source_vocabulary: int,
    target_vocabulary: int,
    features: int,
    copies: Sequence[int] | None,
    grid: GridShape | None,
) -> Model:
    size = configuration.embedding.size
    scale = math.sqrt(size) if configuration.embedding.scaled else 1.0
    apart = features if configuration.features == "encoder" else 0
    by_symbol = configuration.embedding.dropout_by == "symbol"
    embed = partial(Embedding, size=size, scale=scale, by_symbol=by_symbol)
    source = None if configuration.reads_pictures else embed(source_vocabulary - apart)
    if source is None or not configuration.embedding.share:
        target = embed(target_vocabulary)
    elif source_vocabulary - features == target_vocabulary:
        target = source
    else:
        raise ValueError("embedding.share needs a joint vocabulary (tokenization.joint)")
    encoder = _encoder(configuration, size, grid)
    decoder = _decoder(configuration, size, encoder, features_apart=bool(apart))
    tied = target.weight if configuration.embedding.tie_output else None
    output = OutputLayer(decoder.features_size, target_vocabulary, tied)
    made: Callable[..., Model] = Model
    if configuration.decoder.kind == "hard_attention":
        made = HardAttentionModel
    elif (
        isinstance(configuration.decoder, CopyingDecoderConfiguration)
        and configuration.decoder.copying
    ):
        table = copies or joint_table(source_vocabulary, target_vocabulary, features)
        made = partial(PointerModel, table=table, unseen=configuration.decoder.copying_unseen)
    model = made(source, target, encoder, decoder, output, _input_dropout(configuration))
    model.position_offset = configuration.position_offset
    model.source_word_dropout = configuration.embedding.word_dropout.source
    model.target_word_dropout = configuration.embedding.word_dropout.target
    if apart:
        model.feature_encoder = FeatureEncoder(
            features,
            source_vocabulary - features,
            size=size,
            memory_size=encoder.size,
            scale=scale,
            dropout=configuration.encoder.dropout,
        )
    initialize(model, configuration.initialization)
    return model


def _input_dropout(configuration: ModelConfiguration) -> float:
    """Dropout on embeddings; a Transformer has its own, after positions are added."""
    parts = (configuration.encoder, configuration.decoder)
    both = all(isinstance(part, TransformerLayerConfiguration) for part in parts)
    return 0.0 if both else configuration.embedding.dropout


def _encoder(configuration: ModelConfiguration, size: int, grid: GridShape | None) -> Encoder:
    chosen = configuration.encoder
    if chosen.kind == "grid":
        if grid is None:
            raise ValueError("an encoder of kind 'grid' reads pictures: there are none")
        return GridEncoder(chosen, grid)
    if chosen.kind == "recurrent":
        return RecurrentEncoder(chosen, size)
    if chosen.kind == "universal_transformer":
        return UniversalEncoder(chosen, size)
    return TransformerEncoder(chosen, size)


def _decoder(
    configuration: ModelConfiguration,
    size: int,
    encoder: Encoder,
    *,
    features_apart: bool,
) -> Decoder:
    chosen = configuration.decoder
    if chosen.kind == "universal_transformer":
        return UniversalDecoder(chosen, size, encoder.size)
    if chosen.kind == "transformer":
        return TransformerDecoder(chosen, size, encoder.size)
    both = configuration.encoder.kind == "recurrent" and configuration.encoder.bidirectional
    directions = 2 if both else 1
    if chosen.kind == "hard_attention":
        return HardAttentionDecoder(
            chosen, size, encoder.size, directions, features_apart=features_apart
        )
    return RecurrentDecoder(chosen, size, encoder.size, directions)
