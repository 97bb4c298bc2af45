"""Pictures in, captions out: model and search together, with what was looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from regard.attention import fold_grid
from regard.data.pictures import Picture, read_pictures
from regard.data.tokenizers import Tokenizer
from regard.evaluation.answer import Answer, step_columns, written
from regard.evaluation.searching import Found, Sampling, search_sources
from regard.models import Model
from regard.search import Ensemble, SearchConfiguration


@dataclass(frozen=True)
class Caption(Answer):
    """What a model made of one picture.

    attention: ``[tokens][rows][columns]`` of the picture's grid; empty where the model has none.
    problem: why there is no caption: the picture cannot be read.
    """

    attention: tuple[tuple[tuple[float, ...], ...], ...] = ()


def caption_pictures(
    model: Model | Ensemble,
    tokenizer: Tokenizer,
    pictures: Sequence[Picture],
    search: SearchConfiguration,
    *,
    batch_size: int = 64,
    beam: int | None = None,
    nbest: int = 1,
    need_attention: bool = True,
    sampling: Sampling | None = None,
) -> list[Caption]:
    """A caption for every picture, in order.

    Args:
        batch_size: most pictures searched at once; it changes speed and nothing else.
        beam: in place of the configuration's.
        nbest: how many candidates to list.
        need_attention: whether tokens and attention are wanted.
    """
    if beam is not None:
        search = search.model_copy(update={"beam": beam})
    captions: list[Caption] = []
    for start in range(0, len(pictures), batch_size):
        some = pictures[start : start + batch_size]
        numbers = list(range(start, start + len(some)))
        found = search_sources(
            model,
            *read_pictures(some),
            search,
            nbest=nbest,
            need_attention=need_attention,
            sampling=None if sampling is None else (sampling, numbers),
        )
        for picture, each in zip(some, found, strict=True):
            captions.append(_caption(tokenizer, picture, each, need_attention))
    return captions


def _caption(tokenizer: Tokenizer, picture: Picture, found: Found, need_attention: bool) -> Caption:
    best = found.hypotheses[0]
    caption = Caption(**written(tokenizer, found.hypotheses))
    if not need_attention:
        return caption
    steps, ponder = step_columns(best.pondering)
    tokens = tokenizer.describe(best.tokens).tokens
    caption = replace(caption, tokens=tokens, steps=steps, ponder=ponder)
    if best.attention is None:
        return caption
    grids = picture.grids
    maps: Any = fold_grid(best.attention[None, None], grids.rows, grids.columns)[0, 0].tolist()
    return replace(caption, attention=tuple(tuple(tuple(row) for row in rows) for rows in maps))
