"""Decoders: step functions over a memory, and the same over all positions at once."""

from regard.models.decoders.hard_attention import HardAttentionDecoder
from regard.models.decoders.recurrent import RecurrentDecoder
from regard.models.decoders.transformer import TransformerDecoder
from regard.models.decoders.universal import UniversalDecoder

#: They read their own past by attention: all teacher-forced steps are one pass.
SelfAttentiveDecoder = TransformerDecoder | UniversalDecoder
Decoder = RecurrentDecoder | SelfAttentiveDecoder | HardAttentionDecoder

__all__ = [
    "Decoder",
    "HardAttentionDecoder",
    "RecurrentDecoder",
    "SelfAttentiveDecoder",
    "TransformerDecoder",
    "UniversalDecoder",
]
