"""Encoders: embedded source -> memory."""

from regard.models.encoders.features import FeatureEncoder
from regard.models.encoders.recurrent import RecurrentEncoder
from regard.models.encoders.transformer import TransformerEncoder

__all__ = ["FeatureEncoder", "RecurrentEncoder", "TransformerEncoder"]
