"""Encoders: embedded source -> memory."""

from regard.models.encoders.recurrent import RecurrentEncoder
from regard.models.encoders.transformer import TransformerEncoder

__all__ = ["RecurrentEncoder", "TransformerEncoder"]
