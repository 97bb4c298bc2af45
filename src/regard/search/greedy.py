"""Greedy search: the most probable token at each step."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.candidates import best_candidates
from regard.search.configuration import SearchConfiguration
from regard.search.decoder import Decoder
from regard.search.hypothesis import Hypothesis
from regard.search.single import follow


def greedy_search(
    decoder: Decoder,
    memory: Any,
    lengths: Int[Tensor, "batch"],
    configuration: SearchConfiguration,
    *,
    maximum_length: int | None = None,
    need_attention: bool = True,
) -> list[Hypothesis]:
    """One hypothesis per sentence, the same as beam search with a beam of 1.

    Of equally probable tokens the lowest id is taken. lengths, maximum_length and errors as in
    `beam.beam_search`; the configuration's beam is not read.
    """
    return follow(
        decoder,
        memory,
        lengths,
        configuration,
        _most_probable,
        maximum_length=maximum_length,
        need_attention=need_attention,
    )


def _most_probable(
    log_probabilities: Float[Tensor, "rows vocabulary"],
    scores: Float[Tensor, "rows"],
    sentences: Int[Tensor, "rows"],
    step: int,
    banned: Sequence[int],
) -> tuple[Int[Tensor, "rows"], Bool[Tensor, "rows"]]:
    found = best_candidates(log_probabilities, scores.unsqueeze(1), 1, banned)
    return found.tokens.squeeze(1), found.viable.squeeze(1)
