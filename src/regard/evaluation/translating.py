"""Texts in, texts out: tokenizers, model and search together, with what was attended to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.batches import Batch, collate, collate_sources
from regard.data.special import UNKNOWN
from regard.data.tokenizers import Opened, Tokenized, Tokenizers, unseen_symbols
from regard.evaluation.alignment import links_from_attention
from regard.evaluation.asking import (
    check_tags,
    cut_batches,
    opened,
    read_given_pairs,
    read_sources,
)
from regard.evaluation.pondering import source_pondering, with_steps
from regard.evaluation.posteriors import with_posteriors
from regard.evaluation.translation import BLANK, Candidate, Translation
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
    """Draw at random in place of a search; ``first`` numbers the first text in the whole job."""

    seed: int
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    first: int = 0


def translate_texts(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    texts: Sequence[str],
    search: SearchConfiguration,
    *,
    features: Sequence[str] | None = None,
    batch_size: int = 64,
    beam: int | None = None,
    nbest: int = 1,
    need_attention: bool = True,
    sampling: Sampling | None = None,
) -> list[Translation]:
    """Answer every text, in order; a blank one stays blank and never reaches the model.

    Args:
        features: of each text, for a model that has features.
        batch_size: most texts searched at once; it changes speed and nothing else.
        beam: in place of the configuration's.
        nbest: how many candidates to list.
        need_attention: whether attention, alignment and steps are wanted.
    """
    if beam is not None:
        search = search.model_copy(update={"beam": beam})
    answers = [BLANK] * len(texts)
    tags = check_tags(tokenizers, features, len(texts))
    filled = [i for i, text in enumerate(texts) if text.strip()]
    sources = read_sources(model, tokenizers, texts, tags, filled, answers)
    order = sorted(sources, key=lambda i: (len(sources[i].ids), i))
    for indices in cut_batches(order, sources, batch_size, search.beam):
        found = _search(
            model,
            [sources[i].ids for i in indices],
            search,
            nbest,
            need_attention,
            None if sampling is None else (sampling, indices),
        )
        for i, each in zip(indices, found, strict=True):
            asked = opened(tokenizers, sources[i])
            answers[i] = _answer(asked, texts[i], tags[i], each, need_attention)
    return _with_unseen(answers, sources, tokenizers, texts)


def score_texts(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    pairs: Sequence[tuple[str, str | Sequence[str]]],
    search: SearchConfiguration,
    *,
    features: Sequence[str] | None = None,
    batch_size: int = 64,
    need_attention: bool = True,
) -> list[Translation]:
    """The model's view of given targets: a text, or the tokens that a decoder listed.

    A pair with a blank source or target is not scored: its answer has no score. The others have
    the text that was given.
    """
    answers = [BLANK] * len(pairs)
    texts = [source for source, _ in pairs]
    tags, sources, asked, examples = read_given_pairs(model, tokenizers, pairs, features, answers)
    order = sorted(examples, key=lambda i: (len(examples[i].source), len(examples[i].target), i))
    for indices in cut_batches(order, sources, batch_size, 1):
        batch = collate([examples[i] for i in indices], range(len(indices)))
        for i, found in zip(indices, _score(model, batch, search, need_attention), strict=True):
            answers[i] = _answer(asked[i], texts[i], tags[i], found, need_attention)
    for i, example in examples.items():
        given = pairs[i][1]
        if isinstance(given, str):  # its tokens may lack symbols, which a text must not
            answers[i] = replace(answers[i], text=given)
        if UNKNOWN in example.target:
            unseen = unseen_symbols(asked[i].target, given)
            answers[i] = replace(answers[i], unseen_target=unseen)
    return _with_unseen(answers, sources, tokenizers, texts)


class _Found(NamedTuple):
    """What was found for a source: the best hypothesis first, and the steps its tokens took."""

    hypotheses: list[Hypothesis]
    pondering: Float[Tensor, "source 2"] | None


@torch.no_grad()
def _score(
    model: Model | Ensemble, batch: Batch, search: SearchConfiguration, need_attention: bool
) -> list[_Found]:
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
    return _looked_at(model, memory, lengths, [[each] for each in found], need_attention)


@torch.no_grad()
def _search(
    model: Model | Ensemble,
    sources: list[tuple[int, ...]],
    search: SearchConfiguration,
    nbest: int,
    need_attention: bool,
    sampling: tuple[Sampling, list[int]] | None,
) -> list[_Found]:
    source, mask = collate_sources(sources)
    memory: Any = model.encode(source, mask)
    lengths: Tensor = mask.sum(1)
    found = _found(model, memory, lengths, search, nbest, need_attention, sampling)
    return _looked_at(model, memory, lengths, found, need_attention)


def _looked_at(
    model: Model | Ensemble,
    memory: Any,
    lengths: Tensor,
    found: list[list[Hypothesis]],
    wanted: bool,
) -> list[_Found]:
    """With what is to be seen of the source, and what is known better once the output is there."""
    if not wanted:
        return [_Found(hypotheses, None) for hypotheses in found]
    if isinstance(model, HardAttentionModel):
        best = with_posteriors(model, memory, lengths, [hypotheses[0] for hypotheses in found])
        found = [[first, *rest[1:]] for first, rest in zip(best, found, strict=True)]
    return list(map(_Found, found, source_pondering(model, memory, lengths)))


def _found(
    model: Model | Ensemble,
    memory: Any,
    lengths: Tensor,
    search: SearchConfiguration,
    nbest: int,
    need_attention: bool,
    sampling: tuple[Sampling, list[int]] | None,
) -> list[list[Hypothesis]]:
    """By the search that is asked for: each source's hypotheses, the best one first."""
    if sampling is not None:
        how, numbers = sampling
        drawn = sample(
            model,
            memory,
            lengths,
            search,
            seed=how.seed,
            temperature=how.temperature,
            top_k=how.top_k,
            top_p=how.top_p,
            maximum_length=model.longest_target,
            numbers=[how.first + i for i in numbers],
            need_attention=need_attention,
        )
        return [[hypothesis] for hypothesis in drawn]
    if search.beam == 1 and nbest == 1:
        greedy = greedy_search(
            model,
            memory,
            lengths,
            search,
            maximum_length=model.longest_target,
            need_attention=need_attention,
        )
        return [[hypothesis] for hypothesis in greedy]
    return beam_search(
        model,
        memory,
        lengths,
        search,
        nbest=nbest,
        maximum_length=model.longest_target,
        need_attention=need_attention,
    )


def _answer(
    tokenizers: Tokenizers,
    source: str,
    tag: str | None,
    found: _Found,
    need_attention: bool,
) -> Translation:
    best = found.hypotheses[0]
    nbest: dict[str, Candidate] = {}  # two segmentations of one text are one candidate
    for each in found.hypotheses:
        text = tokenizers.target.decode(each.tokens)
        nbest.setdefault(text, Candidate(text, each.score, each.normalized_score))
    answer = Translation(
        next(iter(nbest)),
        best.score,
        best.normalized_score,
        token_scores=best.log_probabilities,
        nbest=tuple(nbest.values()),
        ended=best.ended,
        unseen_features=_unseen(tokenizers, tag),
    )
    if not need_attention:
        return answer
    answer = with_steps(answer, found.pondering, best.pondering)
    return _looked_into(answer, tokenizers, source, tag, best)


def _unseen(tokenizers: Tokenizers, tag: str | None) -> tuple[str, ...]:
    known = tokenizers.features
    return () if known is None or tag is None else known.unseen(tag)


def _with_unseen(
    answers: list[Translation],
    sources: dict[int, Opened],
    tokenizers: Tokenizers,
    texts: Sequence[str],
) -> list[Translation]:
    """The answers; those to sources with unknown symbols tell which these are."""
    for i, source in sources.items():
        if UNKNOWN in source.ids:
            answers[i] = replace(answers[i], unseen=unseen_symbols(tokenizers.source, texts[i]))
    return answers


def _looked_into(
    answer: Translation, tokenizers: Tokenizers, source: str, tag: str | None, best: Hypothesis
) -> Translation:
    read: Tokenized = tokenizers.tokenize_source(source, tag)
    written: Tokenized = tokenizers.target.describe(best.tokens)
    answer = replace(answer, tokens=written.tokens, source_tokens=(*read.tokens, "</s>"))
    if best.attention is None:
        return answer
    weights: Any = best.attention.tolist()
    links = links_from_attention(weights, (*read.words, -1), written.words)
    return replace(
        answer,
        attention=tuple(tuple(row) for row in weights),
        alignment=tuple(sorted(links)),
    )
