"""Where things stand, as vectors to add or as something that an attention does with its scores."""

from regard.attention.positions.alibi import ALiBi, alibi_slopes
from regard.attention.positions.coordinates import coordinate_positions
from regard.attention.positions.grid import grid_positions
from regard.attention.positions.learned import LearnedPositions
from regard.attention.positions.relative import RelativeBias, relative_buckets
from regard.attention.positions.rotary import Rotary, rotate
from regard.attention.positions.scheme import PositionScheme, make_scheme
from regard.attention.positions.sinusoidal import sinusoidal_positions

__all__ = [
    "ALiBi",
    "LearnedPositions",
    "PositionScheme",
    "RelativeBias",
    "Rotary",
    "alibi_slopes",
    "coordinate_positions",
    "grid_positions",
    "make_scheme",
    "relative_buckets",
    "rotate",
    "sinusoidal_positions",
]
