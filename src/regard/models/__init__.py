"""Encoders, decoders, and how a configuration becomes a model."""

from regard.models.build import build_model
from regard.models.configuration import ModelConfiguration
from regard.models.encoders import GridShape
from regard.models.model import Model, TokenLosses

__all__ = ["GridShape", "Model", "ModelConfiguration", "TokenLosses", "build_model"]
