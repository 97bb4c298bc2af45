"""Encoders, decoders, and how a configuration becomes a model."""

from regard.models.build import build_model
from regard.models.configuration import ModelConfiguration
from regard.models.model import Model

__all__ = ["Model", "ModelConfiguration", "build_model"]
