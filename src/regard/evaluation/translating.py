"""Texts in, texts out: tokenizers, model and search together, with what was attended to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from regard.data.batches import Example, collate, collate_sources
from regard.data.features import FeaturesError
from regard.data.special import END, UNKNOWN
from regard.data.tokenizers import Tokenized, Tokenizers, unseen_symbols
from regard.errors import UserError
from regard.evaluation.alignment import links_from_attention
from regard.evaluation.translation import BLANK, Candidate, Translation
from regard.models import Model
from regard.search import (
    Ensemble,
    Hypothesis,
    SearchConfiguration,
    beam_search,
    greedy_search,
    sample,
    score_targets,
)

#: Most source positions searched at once, padding and beam included: memory stays bounded
#: however long the lines are.
MOST_POSITIONS = 65_536


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
        need_attention: whether attention and alignment are wanted.
    """
    if beam is not None:
        search = search.model_copy(update={"beam": beam})
    answers = [BLANK] * len(texts)
    tags = check_tags(tokenizers, features, len(texts))
    filled = [i for i, text in enumerate(texts) if text.strip()]
    sources = _sources(tokenizers, texts, tags, filled, answers)
    _set_aside(model, sources, answers)
    order = sorted(sources, key=lambda i: (len(sources[i]), i))
    for indices in _batches(order, sources, batch_size, search.beam):
        found = _search(
            model,
            [sources[i] for i in indices],
            search,
            nbest,
            need_attention,
            None if sampling is None else (sampling, indices),
        )
        for i, hypotheses in zip(indices, found, strict=True):
            answers[i] = _answer(tokenizers, texts[i], tags[i], hypotheses, need_attention)
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
    tags = check_tags(tokenizers, features, len(pairs))
    filled = [i for i, pair in enumerate(pairs) if _is_filled(*pair)]
    texts = [source for source, _ in pairs]
    sources = _sources(tokenizers, texts, tags, filled, answers)
    _set_aside(model, sources, answers)
    examples = {i: Example(sources[i], _target(tokenizers, pairs[i][1])) for i in sources}
    order = sorted(examples, key=lambda i: (len(examples[i].source), len(examples[i].target), i))
    for indices in _batches(order, sources, batch_size, 1):
        batch = collate([examples[i] for i in indices], range(len(indices)))
        with torch.no_grad():
            memory = model.encode(batch.source, batch.source_mask)
            found = score_targets(
                model,
                memory,
                batch.inputs,
                batch.outputs,
                batch.mask,
                lengths=batch.source_mask.sum(1),
                length_penalty=search.length_penalty,
                need_attention=need_attention,
            )
        for i, hypothesis in zip(indices, found, strict=True):
            answers[i] = _answer(tokenizers, texts[i], tags[i], [hypothesis], need_attention)
    for i, example in examples.items():
        given = pairs[i][1]
        if isinstance(given, str):  # its tokens may lack symbols, which a text must not
            answers[i] = replace(answers[i], text=given)
        if UNKNOWN in example.target:
            unseen = unseen_symbols(tokenizers.target, given)
            answers[i] = replace(answers[i], unseen_target=unseen)
    return _with_unseen(answers, sources, tokenizers, texts)


def check_tags(
    tokenizers: Tokenizers, features: Sequence[str] | None, count: int
) -> Sequence[str | None]:
    """The features of each text, None for each where the model has none.

    Raises UserError where features are missing, given for nothing, or not one for each text.
    """
    tokenizers.check_tags(features)
    if features is None:
        return [None] * count
    if isinstance(features, str) or len(features) != count:
        raise UserError(f"{len(features)} features for {count} texts: give a list, one for each")
    return features


def _sources(
    tokenizers: Tokenizers,
    texts: Sequence[str],
    tags: Sequence[str | None],
    filled: Sequence[int],
    answers: list[Translation],
) -> dict[int, tuple[int, ...]]:
    """The ids of the texts that can be read, END appended; what is wrong with others is noted."""
    sources: dict[int, tuple[int, ...]] = {}
    for i in filled:
        tag = tags[i]
        try:
            (ids,) = tokenizers.encode_sources([texts[i]], None if tag is None else [tag])
        except FeaturesError as error:
            answers[i] = replace(BLANK, problem=str(error))
        else:
            sources[i] = (*ids, END)
    return sources


def _set_aside(
    model: Model | Ensemble, sources: dict[int, tuple[int, ...]], answers: list[Translation]
) -> None:
    """Take out the sources that the model cannot read, and say why in their answers."""
    limit = model.longest_source
    if limit is None:
        return
    for i in [i for i, source in sources.items() if len(source) > limit]:
        length = len(sources.pop(i))
        answers[i] = replace(
            BLANK,
            problem=f"{length} tokens with the end symbol; this model's location attention "
            f"reaches {limit}",
        )


def _is_filled(source: str, target: str | Sequence[str]) -> bool:
    return bool(source.strip() and (target.strip() if isinstance(target, str) else target))


def _target(tokenizers: Tokenizers, target: str | Sequence[str]) -> tuple[int, ...]:
    if isinstance(target, str):
        return (*tokenizers.target.encode(target), END)
    return tuple(tokenizers.target.token_ids(target))


def _batches(
    order: Sequence[int], sources: dict[int, tuple[int, ...]], batch_size: int, beam: int
) -> Iterator[list[int]]:
    """Cut texts sorted by length into batches, fewer rows where they are long."""
    batch: list[int] = []
    for i in order:
        positions = (len(batch) + 1) * beam * len(sources[i])
        if batch and (len(batch) == batch_size or positions > MOST_POSITIONS):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


@torch.no_grad()
def _search(
    model: Model | Ensemble,
    sources: list[tuple[int, ...]],
    search: SearchConfiguration,
    nbest: int,
    need_attention: bool,
    sampling: tuple[Sampling, list[int]] | None,
) -> list[list[Hypothesis]]:
    source, mask = collate_sources(sources)
    memory = model.encode(source, mask)
    lengths: Tensor = mask.sum(1)
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
            numbers=[how.first + i for i in numbers],
            need_attention=need_attention,
        )
        return [[hypothesis] for hypothesis in drawn]
    if search.beam == 1 and nbest == 1:
        greedy = greedy_search(model, memory, lengths, search, need_attention=need_attention)
        return [[hypothesis] for hypothesis in greedy]
    return beam_search(model, memory, lengths, search, nbest=nbest, need_attention=need_attention)


def _answer(
    tokenizers: Tokenizers,
    source: str,
    tag: str | None,
    hypotheses: list[Hypothesis],
    need_attention: bool,
) -> Translation:
    best = hypotheses[0]
    nbest: dict[str, Candidate] = {}  # two segmentations of one text are one candidate
    for each in hypotheses:
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
    return _looked_into(answer, tokenizers, source, tag, best) if need_attention else answer


def _unseen(tokenizers: Tokenizers, tag: str | None) -> tuple[str, ...]:
    known = tokenizers.features
    return () if known is None or tag is None else known.unseen(tag)


def _with_unseen(
    answers: list[Translation],
    sources: dict[int, tuple[int, ...]],
    tokenizers: Tokenizers,
    texts: Sequence[str],
) -> list[Translation]:
    """The answers; those to sources with unknown symbols tell which these are."""
    for i, ids in sources.items():
        if UNKNOWN in ids:
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
