"""Captions: images with the texts that describe them, in the formats in which people have them."""

from regard.data.captions.data import SPLITS, CaptionData, Captioned
from regard.data.captions.reading import read_captions
from regard.data.captions.regions import read_regions

__all__ = ["SPLITS", "CaptionData", "Captioned", "read_captions", "read_regions"]
