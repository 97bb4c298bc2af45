"""Encoders: embedded source or grid of features -> memory."""

from regard.models.encoders.features import FeatureEncoder
from regard.models.encoders.grid import GridEncoder, GridShape
from regard.models.encoders.recurrent import RecurrentEncoder
from regard.models.encoders.transformer import TransformerEncoder
from regard.models.encoders.universal import UniversalEncoder

#: Those that read text.
TextEncoder = RecurrentEncoder | TransformerEncoder | UniversalEncoder
Encoder = TextEncoder | GridEncoder

__all__ = [
    "Encoder",
    "FeatureEncoder",
    "GridEncoder",
    "GridShape",
    "RecurrentEncoder",
    "TextEncoder",
    "TransformerEncoder",
    "UniversalEncoder",
]
