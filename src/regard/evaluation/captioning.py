"""Pictures in, captions out: model and search together, with what was looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard.attention import fold_grid
from regard.data.batches import Example, collate
from regard.data.images.backbone import Backbone
from regard.data.pictures import Picture, read_pictures, see_images
from regard.data.tokenizers import Tokenizers
from regard.errors import UserError
from regard.evaluation.answer import Answer, step_columns, written
from regard.evaluation.asking import LONG_TARGET, read_target
from regard.evaluation.searching import Found, Sampling, score_batch, search_sources
from regard.models import Model
from regard.search import Ensemble, SearchConfiguration


@dataclass(frozen=True)
class Caption(Answer):
    """What a model made of one picture.

    words: the whitespace-separated word of ``text`` that each token belongs to; -1 for none.
    attention: ``[tokens][rows][columns]`` of the picture's grid; empty where the model has none.
    problem: why there is no caption: the picture cannot be read.
    """

    words: tuple[int, ...] = ()
    attention: tuple[tuple[tuple[float, ...], ...], ...] = ()


def caption_pictures(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    pictures: Sequence[Picture],
    search: SearchConfiguration,
    *,
    batch_size: int = 64,
    beam: int | None = None,
    nbest: int = 1,
    need_attention: bool = True,
    sampling: Sampling | None = None,
    numbers: Sequence[int] | None = None,
) -> list[Caption]:
    """A caption for every picture, in order.

    Args:
        batch_size: most pictures searched at once; it changes speed and nothing else.
        beam: in place of the configuration's.
        nbest: how many candidates to list.
        need_attention: whether tokens and attention are wanted.
        numbers: of each picture in a longer job, for sampling; default 0, 1, 2, ...
    """
    if beam is not None:
        search = search.model_copy(update={"beam": beam})
    numbers = range(len(pictures)) if numbers is None else numbers
    captions: list[Caption] = []
    for start in range(0, len(pictures), batch_size):
        some = pictures[start : start + batch_size]
        drawn = list(numbers[start : start + batch_size])
        found = search_sources(
            model,
            *read_pictures(some),
            search,
            nbest=nbest,
            need_attention=need_attention,
            sampling=None if sampling is None else (sampling, drawn),
        )
        pairs = zip(some, found, strict=True)
        captions += [caption_of(tokenizers, *pair, need_attention) for pair in pairs]
    return captions


def caption_images(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    images: Sequence[Path],
    backbone: Backbone,
    search: SearchConfiguration,
    *,
    batch_size: int = 32,
    sampling: Sampling | None = None,
    **options: Any,
) -> list[Caption]:
    """A caption for every image, in order; one that cannot be read has a problem and no text.

    No more than a batch of images is in memory at a time. Options as of `caption_pictures`.
    """
    captions: list[Caption] = []
    for start in range(0, len(images), batch_size):
        seen = see_images(images[start : start + batch_size], backbone)
        answers = [_unanswered(str(each)) for each in seen]
        whole = {i: each for i, each in enumerate(seen) if isinstance(each, Picture)}
        found = caption_pictures(
            model,
            tokenizers,
            list(whole.values()),
            search,
            batch_size=batch_size,
            sampling=sampling,
            numbers=[start + i for i in whole],
            **options,
        )
        for i, caption in zip(whole, found, strict=True):
            answers[i] = caption
        captions += answers
    return captions


def score_captions(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    pairs: Sequence[tuple[Path, str | Sequence[str]]],
    backbone: Backbone,
    search: SearchConfiguration,
    *,
    batch_size: int = 32,
    need_attention: bool = True,
) -> list[Caption]:
    """The model's view of given captions: texts, or the tokens that a decoder listed.

    An image that cannot be read, and a caption longer than the model writes, have a problem.
    """
    answers: list[Caption] = []
    for start in range(0, len(pairs), batch_size):
        some = pairs[start : start + batch_size]
        seen = see_images([image for image, _ in some], backbone)
        given = [caption for _, caption in some]
        answers += _score_batch(model, tokenizers, seen, given, search, need_attention)
    return answers


def score_pictures(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    pictures: Sequence[Picture | UserError],
    captions: Sequence[str | Sequence[str]],
    search: SearchConfiguration,
    *,
    batch_size: int = 64,
    need_attention: bool = True,
) -> list[Caption]:
    """The same of pictures; in place of one, why there is none."""
    answers: list[Caption] = []
    for start in range(0, len(pictures), batch_size):
        some = slice(start, start + batch_size)
        answers += _score_batch(
            model, tokenizers, pictures[some], captions[some], search, need_attention
        )
    return answers


def _score_batch(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    pictures: Sequence[Picture | UserError],
    captions: Sequence[str | Sequence[str]],
    search: SearchConfiguration,
    need_attention: bool,
) -> list[Caption]:
    answers: dict[int, Caption] = {}
    examples: dict[int, Example] = {}
    limit = model.longest_target
    for i, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        target = read_target(tokenizers, caption)
        if isinstance(picture, UserError):
            answers[i] = _unanswered(str(picture))
        elif limit is not None and len(target) > limit:
            answers[i] = _unanswered(LONG_TARGET.format(length=len(target), limit=limit))
        else:
            examples[i] = Example(picture, target)
    if examples:
        batch = collate(list(examples.values()), range(len(examples)))
        found = score_batch(model, batch, search, need_attention)
        for i, each in zip(examples, found, strict=True):
            picture, given = pictures[i], captions[i]
            assert isinstance(picture, Picture)
            answers[i] = caption_of(tokenizers, picture, each, need_attention)
            if isinstance(given, str):  # its tokens may lack symbols, which a text must not
                answers[i] = replace(answers[i], text=given)
    return [answers[i] for i in range(len(pictures))]


def _unanswered(problem: str) -> Caption:
    return Caption("", None, None, problem=problem)


def caption_of(
    tokenizers: Tokenizers, picture: Picture, found: Found, need_attention: bool = True
) -> Caption:
    """What was found for a picture, as a caption."""
    best, tokenizer = found.hypotheses[0], tokenizers.target
    caption = Caption(**written(tokenizer, found.hypotheses))
    if not need_attention:
        return caption
    steps, ponder = step_columns(best.pondering)
    wrote = tokenizer.describe(best.tokens)
    caption = replace(caption, tokens=wrote.tokens, words=wrote.words, steps=steps, ponder=ponder)
    if best.attention is None:
        return caption
    grids = picture.grids
    maps: Any = fold_grid(best.attention[None, None], grids.rows, grids.columns)[0, 0].tolist()
    return replace(caption, attention=tuple(tuple(tuple(row) for row in rows) for rows in maps))
