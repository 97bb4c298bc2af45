"""Attention: scores, masks, memories, positions. Imports nothing else of regard."""

from regard.attention.attended import Attended, Sampled
from regard.attention.attention import Attention
from regard.attention.functional import masked_log_softmax, masked_softmax, weighted_sum
from regard.attention.grids import flatten_grid, fold_grid
from regard.attention.masks import causal_mask
from regard.attention.memory import Memory
from regard.attention.penalties import alignment_loss, coverage_loss, doubly_stochastic_penalty
from regard.attention.positions import (
    ALiBi,
    LearnedPositions,
    PositionScheme,
    RelativeBias,
    Rotary,
    coordinate_positions,
    grid_positions,
    sinusoidal_positions,
)
from regard.attention.scores import (
    additive_scores,
    dot_scores,
    general_scores,
    location_scores,
)
from regard.attention.selection import masked_entmax, masked_sparsemax
from regard.attention.windows import sliding_window

__all__ = [
    "ALiBi",
    "Attended",
    "Attention",
    "LearnedPositions",
    "Memory",
    "PositionScheme",
    "RelativeBias",
    "Rotary",
    "Sampled",
    "additive_scores",
    "alignment_loss",
    "causal_mask",
    "coordinate_positions",
    "coverage_loss",
    "dot_scores",
    "doubly_stochastic_penalty",
    "flatten_grid",
    "fold_grid",
    "general_scores",
    "grid_positions",
    "location_scores",
    "masked_entmax",
    "masked_log_softmax",
    "masked_softmax",
    "masked_sparsemax",
    "sinusoidal_positions",
    "sliding_window",
    "weighted_sum",
]
