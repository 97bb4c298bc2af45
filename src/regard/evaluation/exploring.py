"""One source, explored: the answer, the whole search, all attention; begun or hidden as asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Bool
from torch import Tensor

from regard.data.batches import collate_sources
from regard.data.pictures import Picture, read_pictures
from regard.data.special import UNKNOWN
from regard.data.tokenizers import Tokenizers, unseen_symbols
from regard.errors import UserError
from regard.evaluation.asking import check_tags, opened, read_sources
from regard.evaluation.captioning import Caption, caption_of
from regard.evaluation.hiding import hidden_positions, hide
from regard.evaluation.looking import Look, look_at_picture, look_into
from regard.evaluation.prefixes import Prefix, check_begun, check_room, forced, read_prefix
from regard.evaluation.searching import Found, looked_at
from regard.evaluation.translating import translation_of
from regard.evaluation.translation import BLANK, Translation
from regard.models import Model
from regard.search import Ensemble, SearchConfiguration, beam_search
from regard.search.tree import SearchTree, TreeRecorder

Answered = TypeVar("Answered", Translation, Caption)


@dataclass(frozen=True)
class Asked:
    """What is asked of an exploration beside its source.

    prefix: what the output is made to begin with: a text, or tokens as an answer lists them.
    hidden: positions of the source that cannot be attended to; the encoder has read them.
    pruned: how many hypotheses without a place in the beam to tell of at every step.
    """

    prefix: Prefix | None = None
    hidden: tuple[int, ...] = ()
    pruned: int = 3


@dataclass(frozen=True)
class Explored(Generic[Answered]):
    """What came of it.

    tree: the search that found the answer; names: of each of its nodes, the token as it is shown.
    look: what there is to be seen of source and answer, with the same positions hidden.
    begun: how many tokens of the answer were asked for.
    """

    answer: Answered
    tree: SearchTree
    names: tuple[str, ...]
    look: Look
    begun: int = 0


def explore_text(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    source: str,
    search: SearchConfiguration,
    asked: Asked = Asked(),
    *,
    features: str | None = None,
) -> Explored[Translation]:
    """Translate a text and keep all of the search.

    Raises UserError for a text that is blank or too long, features as `translate_texts`, positions
    that cannot be hidden, and a prefix that cannot be written.
    """
    answers = [BLANK]
    (tag,) = check_tags(tokenizers, None if features is None else [features], 1)
    filled = [0] if source.strip() else []
    sources = read_sources(model, tokenizers, [source], [tag], filled, answers)
    if not sources:
        raise UserError(answers[0].problem or "a blank text cannot be explored; give some text")
    known = opened(tokenizers, sources[0])
    found, tree, begun = _search(model, known, collate_sources([sources[0].ids]), search, asked)
    answer = translation_of(known, source, tag, found)
    if UNKNOWN in sources[0].ids:
        answer = replace(answer, unseen=unseen_symbols(tokenizers.source, source))
    look = look_into(
        model, tokenizers, source, answer.tokens, features=features, hidden=asked.hidden
    )
    return Explored(answer, tree, _names(known, tree), look, begun)


def explore_picture(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    picture: Picture,
    search: SearchConfiguration,
    asked: Asked = Asked(),
) -> Explored[Caption]:
    """The same of a picture, whose positions are the cells of its grid, row by row."""
    found, tree, begun = _search(model, tokenizers, read_pictures([picture]), search, asked)
    answer = caption_of(tokenizers, picture, found)
    look = look_at_picture(model, tokenizers, picture, answer.tokens, hidden=asked.hidden)
    return Explored(answer, tree, _names(tokenizers, tree), look, begun)


class _Searched(NamedTuple):
    found: Found
    tree: SearchTree
    begun: int


@torch.no_grad()
def _search(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    source: tuple[Tensor, Bool[Tensor, "1 positions"]],
    search: SearchConfiguration,
    asked: Asked,
) -> _Searched:
    """Search one source, told of every step, with all the beam's answers."""
    lengths = source[1].sum(1)
    prefix = read_prefix(tokenizers, asked.prefix)
    check_room(prefix, int(lengths), search, model.longest_target)
    memory: Any = model.encode(*source)
    if asked.hidden:
        memory = hide(memory, hidden_positions(asked.hidden, source[1]))
    recorder = TreeRecorder(asked.pruned, search.length_penalty)
    hypotheses = beam_search(
        forced(model, [prefix], lengths.device),
        memory,
        lengths,
        search,
        nbest=search.beam,
        maximum_length=model.longest_target,
        observer=recorder,
    )
    best = hypotheses[0][0]
    check_begun(tokenizers, prefix, best.tokens)
    if asked.hidden and best.attention is None:
        raise UserError("this model has no attention, so nothing can be hidden from it")
    (found,) = looked_at(model, memory, lengths, hypotheses, wanted=True)
    return _Searched(found, recorder.tree(0), len(prefix))


def _names(tokenizers: Tokenizers, tree: SearchTree) -> tuple[str, ...]:
    ids = {node.token for node in tree.nodes}
    names = {token: "".join(tokenizers.target.describe([token]).tokens) for token in ids}
    return tuple(names[node.token] for node in tree.nodes)
