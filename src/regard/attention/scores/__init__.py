"""Scores ``e_ij = f(query_i, key_j)``: one file each, a pure function under a parameter holder."""

from regard.attention.scores.additive import AdditiveScore, additive_scores
from regard.attention.scores.dot import DotScore, dot_scores
from regard.attention.scores.general import GeneralScore, general_scores

SCORES = ("dot", "scaled_dot", "general", "additive", "concat")

__all__ = [
    "SCORES",
    "AdditiveScore",
    "DotScore",
    "GeneralScore",
    "additive_scores",
    "dot_scores",
    "general_scores",
]
