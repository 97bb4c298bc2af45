"""Texts in, texts out: tokenizers, model and search together, with what was attended to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from regard.data.batches import collate, collate_sources
from regard.data.special import UNKNOWN
from regard.data.tokenizers import Opened, Tokenized, Tokenizers, unseen_symbols
from regard.errors import UserError
from regard.evaluation.alignment import links_from_attention
from regard.evaluation.answer import written
from regard.evaluation.asking import (
    check_tags,
    cut_batches,
    opened,
    read_given_pairs,
    read_sources,
)
from regard.evaluation.pondering import with_steps
from regard.evaluation.prefixes import Prefix, check_begun, check_room, read_prefix
from regard.evaluation.searching import Found, Sampling, score_batch, search_sources
from regard.evaluation.translation import BLANK, Translation
from regard.models import Model
from regard.search import Ensemble, Hypothesis, SearchConfiguration


def translate_texts(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    texts: Sequence[str],
    search: SearchConfiguration,
    *,
    features: Sequence[str] | None = None,
    prefixes: Sequence[Prefix | None] | None = None,
    batch_size: int = 64,
    beam: int | None = None,
    nbest: int = 1,
    need_attention: bool = True,
    sampling: Sampling | None = None,
) -> list[Translation]:
    """Answer every text, in order; a blank one stays blank and never reaches the model.

    Args:
        features: of each text, for a model that has features.
        prefixes: what the answer to each text is made to begin with, None where it is free.
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
    begun = _read_prefixes(model, tokenizers, sources, prefixes, search, answers)
    order = sorted(begun, key=lambda i: (len(sources[i].ids), i))
    for indices in cut_batches(order, sources, batch_size, search.beam):
        found = search_sources(
            model,
            *collate_sources([sources[i].ids for i in indices]),
            search,
            nbest=nbest,
            need_attention=need_attention,
            sampling=None if sampling is None else (sampling, indices),
            prefixes=[begun[i] for i in indices],
        )
        for i, each in zip(indices, found, strict=True):
            asked = opened(tokenizers, sources[i])
            answers[i] = _begun(asked, texts[i], tags[i], begun[i], each, need_attention)
    return _with_unseen(answers, sources, tokenizers, texts)


def _read_prefixes(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    sources: dict[int, Opened],
    prefixes: Sequence[Prefix | None] | None,
    search: SearchConfiguration,
    answers: list[Translation],
) -> dict[int, tuple[int, ...]]:
    """The ids that the answer to each source begins with; what is wrong with others is noted."""
    if prefixes is None:
        return dict.fromkeys(sources, ())
    if isinstance(prefixes, str) or len(prefixes) != len(answers):
        count = len(answers)
        raise UserError(f"{len(prefixes)} prefixes for {count} texts: give a list, one for each")
    begun: dict[int, tuple[int, ...]] = {}
    for i, source in sources.items():
        try:
            ids = read_prefix(opened(tokenizers, source), prefixes[i])
            check_room(ids, len(source.ids), search, model.longest_target)
        except UserError as error:
            answers[i] = replace(BLANK, problem=str(error))
        else:
            begun[i] = ids
    return begun


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
        for i, found in zip(
            indices, score_batch(model, batch, search, need_attention), strict=True
        ):
            answers[i] = translation_of(asked[i], texts[i], tags[i], found, need_attention)
    for i, example in examples.items():
        given = pairs[i][1]
        if isinstance(given, str):  # its tokens may lack symbols, which a text must not
            answers[i] = replace(answers[i], text=given)
        if UNKNOWN in example.target:
            unseen = unseen_symbols(asked[i].target, given)
            answers[i] = replace(answers[i], unseen_target=unseen)
    return _with_unseen(answers, sources, tokenizers, texts)


def _begun(
    tokenizers: Tokenizers,
    source: str,
    tag: str | None,
    prefix: tuple[int, ...],
    found: Found,
    need_attention: bool,
) -> Translation:
    """The answer, where it begins as it must."""
    try:
        check_begun(tokenizers, prefix, found.hypotheses[0].tokens)
    except UserError as error:
        return replace(BLANK, problem=str(error))
    return translation_of(tokenizers, source, tag, found, need_attention)


def translation_of(
    tokenizers: Tokenizers,
    source: str,
    tag: str | None,
    found: Found,
    need_attention: bool = True,
) -> Translation:
    """What was found for a source and its features, as an answer."""
    best = found.hypotheses[0]
    fields = written(tokenizers.target, found.hypotheses)
    answer = Translation(**fields, unseen_features=_unseen(tokenizers, tag))
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
    wrote: Tokenized = tokenizers.target.describe(best.tokens)
    answer = replace(answer, tokens=wrote.tokens, source_tokens=(*read.tokens, "</s>"))
    if best.attention is None:
        return answer
    weights: Any = best.attention.tolist()
    links = links_from_attention(weights, (*read.words, -1), wrote.words)
    return replace(
        answer,
        attention=tuple(tuple(row) for row in weights),
        alignment=tuple(sorted(links)),
    )
