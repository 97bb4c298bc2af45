"""Captions: images with the texts that describe them, in the formats in which people have them."""

from regard.data.captions.data import SPLITS, CaptionData, Captioned
from regard.data.captions.reading import read_captions

__all__ = ["SPLITS", "CaptionData", "Captioned", "read_captions"]
