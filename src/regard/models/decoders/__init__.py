"""Decoders: step functions over a memory, and the same over all positions at once."""

from regard.models.decoders.hard_attention import HardAttentionDecoder
from regard.models.decoders.recurrent import RecurrentDecoder
from regard.models.decoders.transformer import TransformerDecoder

__all__ = ["HardAttentionDecoder", "RecurrentDecoder", "TransformerDecoder"]
