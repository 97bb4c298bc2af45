"""Search: from a decoder's step to hypotheses. Knows decoders by `search.decoder` alone."""

from regard.search.beam import beam_search
from regard.search.configuration import SearchConfiguration
from regard.search.ensemble import Ensemble
from regard.search.forced import score_targets
from regard.search.greedy import greedy_search
from regard.search.hypothesis import Hypothesis
from regard.search.sampling import sample

__all__ = [
    "Ensemble",
    "Hypothesis",
    "SearchConfiguration",
    "beam_search",
    "greedy_search",
    "sample",
    "score_targets",
]
