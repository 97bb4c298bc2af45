"""Scores ``e_ij = f(query_i, key_j)``: one file each, a pure function under a parameter holder."""

from regard.attention.scores.additive import AdditiveScore, additive_scores
from regard.attention.scores.dot import DotScore, dot_scores
from regard.attention.scores.general import GeneralScore, general_scores
from regard.attention.scores.location import LocationScore, location_scores

Score = DotScore | GeneralScore | AdditiveScore | LocationScore
SCORES = ("dot", "scaled_dot", "general", "additive", "concat", "location")


def make_score(
    name: str,
    heads: int,
    query_part: int,
    key_part: int,
    *,
    coverage: bool = False,
    maximum_positions: int | None = None,
) -> Score:
    """The score of that name for heads of ``query_part`` and ``key_part`` sizes.

    Raises:
        ValueError: an unknown name, sizes or options that it cannot have.
    """
    if name not in SCORES:
        raise ValueError(f"score {name!r} is none of {', '.join(SCORES)}")
    if coverage and name not in ("additive", "concat"):
        raise ValueError(f"coverage is for additive and concat, not {name!r}")
    if (maximum_positions is None) == (name == "location"):
        raise ValueError("maximum_positions is for score 'location', which needs it")
    if name == "location":
        assert maximum_positions is not None
        return LocationScore(heads, query_part, maximum_positions)
    if name == "general":
        return GeneralScore(heads, query_part, key_part)
    if query_part != key_part:
        raise ValueError(
            f"score {name!r} needs queries and keys of one size per head, "
            f"not {query_part} and {key_part}: project them, or use score='general'"
        )
    if name in ("additive", "concat"):
        return AdditiveScore(heads, query_part, coverage=coverage)
    return DotScore(query_part, scaled=name == "scaled_dot")


__all__ = [
    "SCORES",
    "AdditiveScore",
    "DotScore",
    "GeneralScore",
    "LocationScore",
    "Score",
    "additive_scores",
    "dot_scores",
    "general_scores",
    "location_scores",
    "make_score",
]
