"""One source and one target, looked into: all attention there is, and what else was probable.

The source is a text or a picture; the positions of a picture are the cells of its grid, row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import exp
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.batches import Batch, Example, collate
from regard.data.pictures import Picture
from regard.data.tokenizers import Tokenizers
from regard.errors import UserError
from regard.evaluation.asking import LONG_TARGET, is_filled, read_given_pairs, read_target
from regard.evaluation.attention_stack import AttentionStack, Kind
from regard.evaluation.hiding import hidden_positions, hide
from regard.evaluation.translation import BLANK
from regard.models import Model
from regard.models.decoders import TransformerDecoder, UniversalDecoder
from regard.models.encoders import UniversalEncoder
from regard.models.hard_attention_model import HardAttentionModel
from regard.search import Ensemble
from regard.search.next_best import most_probable

#: Most weights of one kind that are kept: more are kept as the mean over heads, or not at all.
MOST_WEIGHTS = 4_000_000


@dataclass(frozen=True)
class Look:
    """What there is to be seen of a source and a target.

    shown: in words, which attention it is that answers have.
    stacks: the others, each kind that the model has; none of several models together.
    left_out: kinds with more than `MOST_WEIGHTS` weights even in the mean over heads.
    source_words, words: the whitespace-separated word that each token belongs to, -1 for none; a
        picture has no words.
    next_best: of each token, the most probable other ones with their probabilities, best first.
    """

    shown: str
    stacks: tuple[AttentionStack, ...]
    left_out: tuple[Kind, ...]
    source_words: tuple[int, ...]
    words: tuple[int, ...]
    next_best: tuple[tuple[tuple[str, float], ...], ...]


def look_into(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    source: str,
    target: str | Sequence[str],
    *,
    features: str | None = None,
    hidden: Sequence[int] = (),
    count: int = 5,
    most: int = MOST_WEIGHTS,
) -> Look:
    """One pass over a source and a target: a text, or the tokens that an answer lists.

    Args:
        features: of the source, for a model that has features.
        hidden: positions of the source that cannot be attended to; the encoder has read them.
        count: how many other tokens to tell at each step.
        most: weights of one kind, as `MOST_WEIGHTS`.

    Raises:
        UserError: a side is blank or too long; features that are missing or given for nothing.
    """
    answers = [BLANK]
    tags = None if features is None else [features]
    given = read_given_pairs(model, tokenizers, [(source, target)], tags, answers)
    if not given.examples:
        raise UserError(answers[0].problem or "a blank side cannot be looked into")
    asked, example = given.tokenizers[0], given.examples[0]
    read = asked.tokenize_source(source, features)
    words = (*read.words, -1)
    return _look(model, asked, example, target, words, hidden, count, most)


def look_at_picture(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    picture: Picture,
    caption: str | Sequence[str],
    *,
    hidden: Sequence[int] = (),
    count: int = 5,
    most: int = MOST_WEIGHTS,
) -> Look:
    """The same of a picture and a caption: a text, or the tokens that an answer lists.

    Raises UserError for a caption that is blank or longer than the model writes.
    """
    example, limit = Example(picture, read_target(tokenizers, caption)), model.longest_target
    if not is_filled("picture", caption):
        raise UserError("a blank caption cannot be looked into")
    if limit is not None and len(example.target) > limit:
        raise UserError(LONG_TARGET.format(length=len(example.target), limit=limit))
    words = (-1,) * len(picture)
    return _look(model, tokenizers, example, caption, words, hidden, count, most)


def _look(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    example: Example,
    target: str | Sequence[str],
    source_words: tuple[int, ...],
    hidden: Sequence[int],
    count: int,
    most: int,
) -> Look:
    written = tokenizers.target.describe(example.target)
    if isinstance(target, str):
        written = tokenizers.target.tokenize(target)
    words = (*written.words, -1)[: len(example.target)]
    with torch.no_grad():
        batch = collate([example], range(1))
        memory: Any = model.encode(batch.source, batch.source_mask)
        if hidden:
            memory = hide(memory, hidden_positions(hidden, batch.source_mask))
        stacks, left_out = _stacks(model, memory, batch, most)
        best = most_probable(model, memory, batch.inputs, count + 1)
    return Look(
        shown_attention(model),
        stacks,
        left_out,
        source_words,
        words,
        _next_best(tokenizers, example, best, count),
    )


def shown_attention(model: Model | Ensemble) -> str:
    """In words: the attention that answers have."""
    if isinstance(model, Ensemble):
        return f"mean over {len(model.members)} models"
    if isinstance(model, HardAttentionModel):
        return "probability of each position, given the whole output"
    over_heads = "mean over heads" if model.attention_heads > 1 else "its one head"
    decoder = model.decoder
    if isinstance(decoder, TransformerDecoder):
        return f"layer {decoder.shown_layer}, {over_heads}"
    if isinstance(decoder, UniversalDecoder):
        if decoder.recurrence.halting is None:
            return f"step {decoder.recurrence.steps}, {over_heads}"
        return f"{over_heads}, steps weighted as the output weighs them"
    return over_heads


def _stacks(
    model: Model | Ensemble, memory: Any, batch: Batch, most: int
) -> tuple[tuple[AttentionStack, ...], tuple[Kind, ...]]:
    """Each kind that there is, and kinds that are too much."""
    if isinstance(model, Ensemble):
        return (), ()
    apart = 0 if memory.apart is None else int(memory.apart.sum())
    kinds: tuple[tuple[Kind, Iterator[Tensor], bool, int], ...] = (
        ("cross", model.attention_by_layer(memory, batch.inputs), _steps(model.decoder), 0),
        (
            "encoder",
            model.encoder_attention_by_layer(batch.source, batch.source_mask),
            _steps(model.encoder),
            apart,
        ),
        (
            "decoder",
            model.decoder_attention_by_layer(memory, batch.inputs),
            _steps(model.decoder),
            0,
        ),
    )
    stacks: list[AttentionStack] = []
    left_out: list[Kind] = []
    for kind, layers, steps, before in kinds:
        first = next(layers, None)
        if first is None:
            continue
        stack = _stack(kind, chain([first], layers), _count(model, kind), steps, before, most)
        if stack is None:
            left_out.append(kind)
        else:
            stacks.append(stack)
    return tuple(stacks), tuple(left_out)


def _stack(
    kind: Kind,
    layers: Iterator[Float[Tensor, "1 heads rows columns"]],
    count: int,
    steps: bool,
    before: int,
    most: int,
) -> AttentionStack | None:
    """As much of ``count`` layers as ``most`` weights allow; ``before`` rows and columns of 0."""
    kept = []
    mean = False
    for layer in layers:
        weights = torch.nn.functional.pad(layer[0], (before, 0, before, 0)).float().cpu()
        if weights[0].numel() * count > most:
            return None
        if weights.numel() * count > most:
            weights, mean = weights.mean(0, keepdim=True), True
        kept.append(weights)
    return AttentionStack(kind, torch.stack(kept).numpy(), steps, mean)


def _count(model: Model, kind: Kind) -> int:
    """How many layers, or steps, there are."""
    part: Any = model.encoder if kind == "encoder" else model.decoder
    if kind == "cross":
        return model.attention_layers
    return part.recurrence.steps if _steps(part) else len(part.layers)


def _steps(part: Any) -> bool:
    return isinstance(part, UniversalEncoder | UniversalDecoder)


def _next_best(
    tokenizers: Tokenizers, example: Example, best: tuple[Tensor, Tensor], count: int
) -> tuple[tuple[tuple[str, float], ...], ...]:
    """The most probable tokens but the one that was written, as they are shown."""
    names: dict[int, str] = {}

    def name(token: int) -> str:
        if token not in names:
            names[token] = "".join(tokenizers.target.describe([token]).tokens)
        return names[token]

    rows = []
    for chosen, values, ids in zip(
        example.target, best[0][0].tolist(), best[1][0].tolist(), strict=True
    ):
        others = [pair for pair in zip(ids, values, strict=True) if pair[0] != chosen][:count]
        rows.append(tuple((name(token), exp(value)) for token, value in others))
    return tuple(rows)
