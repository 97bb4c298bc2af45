"""Attention: scores, masks, memories, positions. Imports nothing else of regard."""

from regard.attention.attention import Attended, Attention
from regard.attention.functional import masked_softmax, weighted_sum
from regard.attention.masks import causal_mask
from regard.attention.memory import Memory
from regard.attention.positions import sinusoidal_positions
from regard.attention.scores import additive_scores, dot_scores, general_scores

__all__ = [
    "Attended",
    "Attention",
    "Memory",
    "additive_scores",
    "causal_mask",
    "dot_scores",
    "general_scores",
    "masked_softmax",
    "sinusoidal_positions",
    "weighted_sum",
]
