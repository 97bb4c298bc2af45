"""Searching: the hypotheses of a batch of sources, texts or pictures, and what goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.batches import Batch
from regard.evaluation.pondering import source_pondering
from regard.evaluation.posteriors import with_posteriors
from regard.evaluation.prefixes import forced
from regard.models import Model
from regard.models.hard_attention_model import HardAttentionModel
from regard.search import (
    Ensemble,
    Hypothesis,
    SearchConfiguration,
    beam_search,
    greedy_search,
    sample,
    score_targets,
)


@dataclass(frozen=True)
class Sampling:
    """Draw at random in place of a search; ``first`` numbers the first source in the whole job."""

    seed: int
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    first: int = 0


class Found(NamedTuple):
    """What was found for a source: the best hypothesis first, and the steps its tokens took."""

    hypotheses: list[Hypothesis]
    pondering: Float[Tensor, "source 2"] | None


@torch.no_grad()
def search_sources(
    model: Model | Ensemble,
    source: Tensor,
    mask: Tensor,
    search: SearchConfiguration,
    *,
    nbest: int = 1,
    need_attention: bool = True,
    sampling: tuple[Sampling, list[int]] | None = None,
    prefixes: Sequence[Sequence[int]] = (),
) -> list[Found]:
    """The hypotheses of each row of sources and their mask, as `Batch` has them.

    sampling: how to draw, and which number each row has in the job. prefixes: the ids that each
    output is made to begin with.
    """
    memory: Any = model.encode(source, mask)
    lengths: Tensor = mask.sum(1)
    decoder = forced(model, prefixes, lengths.device)
    limit = model.longest_target
    found = _found(decoder, memory, lengths, search, limit, nbest, need_attention, sampling)
    return looked_at(model, memory, lengths, found, need_attention)


@torch.no_grad()
def score_batch(
    model: Model | Ensemble, batch: Batch, search: SearchConfiguration, need_attention: bool
) -> list[Found]:
    """The targets of a batch as hypotheses."""
    memory: Any = model.encode(batch.source, batch.source_mask)
    lengths: Tensor = batch.source_mask.sum(1)
    found = score_targets(
        model,
        memory,
        batch.inputs,
        batch.outputs,
        batch.mask,
        lengths=lengths,
        length_penalty=search.length_penalty,
        need_attention=need_attention,
    )
    return looked_at(model, memory, lengths, [[each] for each in found], need_attention)


def looked_at(
    model: Model | Ensemble,
    memory: Any,
    lengths: Tensor,
    found: list[list[Hypothesis]],
    wanted: bool,
) -> list[Found]:
    """With what is to be seen of the source, and what is known better once the output is there."""
    if not wanted:
        return [Found(hypotheses, None) for hypotheses in found]
    if isinstance(model, HardAttentionModel):
        best = with_posteriors(model, memory, lengths, [hypotheses[0] for hypotheses in found])
        found = [[first, *rest[1:]] for first, rest in zip(best, found, strict=True)]
    return list(map(Found, found, source_pondering(model, memory, lengths)))


def _found(
    decoder: Any,
    memory: Any,
    lengths: Tensor,
    search: SearchConfiguration,
    limit: int | None,
    nbest: int,
    need_attention: bool,
    sampling: tuple[Sampling, list[int]] | None,
) -> list[list[Hypothesis]]:
    """By the search that is asked for: each source's hypotheses, the best one first."""
    if sampling is not None:
        how, numbers = sampling
        drawn = sample(
            decoder,
            memory,
            lengths,
            search,
            seed=how.seed,
            temperature=how.temperature,
            top_k=how.top_k,
            top_p=how.top_p,
            maximum_length=limit,
            numbers=[how.first + i for i in numbers],
            need_attention=need_attention,
        )
        return [[hypothesis] for hypothesis in drawn]
    if search.beam == 1 and nbest == 1:
        greedy = greedy_search(
            decoder,
            memory,
            lengths,
            search,
            maximum_length=limit,
            need_attention=need_attention,
        )
        return [[hypothesis] for hypothesis in greedy]
    return beam_search(
        decoder,
        memory,
        lengths,
        search,
        nbest=nbest,
        maximum_length=limit,
        need_attention=need_attention,
    )
