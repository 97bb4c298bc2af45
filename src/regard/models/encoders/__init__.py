"""Encoders: embedded source -> memory."""

from regard.models.encoders.features import FeatureEncoder
from regard.models.encoders.recurrent import RecurrentEncoder
from regard.models.encoders.transformer import TransformerEncoder
from regard.models.encoders.universal import UniversalEncoder

Encoder = RecurrentEncoder | TransformerEncoder | UniversalEncoder

__all__ = [
    "Encoder",
    "FeatureEncoder",
    "RecurrentEncoder",
    "TransformerEncoder",
    "UniversalEncoder",
]
