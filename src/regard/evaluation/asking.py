"""What is asked of a model, as ids: sources in batches, and targets that are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from regard.data.batches import Example
from regard.data.features import FeaturesError
from regard.data.special import END
from regard.data.tokenizers import Opened, Tokenizers, open_source, open_target
from regard.errors import UserError
from regard.evaluation.translation import BLANK, Translation
from regard.models import Model
from regard.search import Ensemble

#: Most source positions searched at once, padding and beam included: memory stays bounded
#: however long the lines are.
MOST_POSITIONS = 65_536
_LONG_SOURCE = "{length} tokens with the end symbol; this model reads at most {limit}"
LONG_TARGET = "a target of {length} tokens with the end symbol; this model writes at most {limit}"


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


def read_sources(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    texts: Sequence[str],
    tags: Sequence[str | None],
    filled: Sequence[int],
    answers: list[Translation],
) -> dict[int, Opened]:
    """The ids of the texts that can be read, END appended; what is wrong with others is noted.

    Where the model copies, symbols never seen have ids of their own.
    """
    sources: dict[int, Opened] = {}
    for i in filled:
        tag = tags[i]
        try:
            (ids,) = tokenizers.encode_sources([texts[i]], None if tag is None else [tag])
        except FeaturesError as error:
            answers[i] = replace(BLANK, problem=str(error))
        else:
            read = (*ids, END)
            sources[i] = open_source(tokenizers, texts[i], read) if model.copies else Opened(read)
    lengths = {i: len(source.ids) for i, source in sources.items()}
    for i in set_aside(lengths, model.longest_source, _LONG_SOURCE, answers):
        del sources[i]
    return sources


def opened(tokenizers: Tokenizers, source: Opened) -> Tokenizers:
    """Tokenizers whose target also knows the symbols that this source alone has."""
    if not source.symbols:
        return tokenizers
    return replace(tokenizers, target=open_target(tokenizers.target, source.symbols))


class GivenPairs(NamedTuple):
    """Sources and their given targets as a model reads them, each by its number among all pairs.

    tags: the features of every pair, None for each where the model has none. tokenizers: those of
    each pair, where its source may open the target's vocabulary.
    """

    tags: Sequence[str | None]
    sources: dict[int, Opened]
    tokenizers: dict[int, Tokenizers]
    examples: dict[int, Example]


def read_given_pairs(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    pairs: Sequence[tuple[str, str | Sequence[str]]],
    features: Sequence[str] | None,
    answers: list[Translation],
) -> GivenPairs:
    """The pairs that have two sides and that the model can read; what is wrong with others is
    noted in `answers`."""
    tags = check_tags(tokenizers, features, len(pairs))
    filled = [i for i, pair in enumerate(pairs) if is_filled(*pair)]
    texts = [source for source, _ in pairs]
    sources = read_sources(model, tokenizers, texts, tags, filled, answers)
    asked = {i: opened(tokenizers, source) for i, source in sources.items()}
    examples = {i: Example(sources[i].ids, read_target(asked[i], pairs[i][1])) for i in sources}
    targets = {i: len(example.target) for i, example in examples.items()}
    for i in set_aside(targets, model.longest_target, LONG_TARGET, answers):
        del examples[i]
    return GivenPairs(tags, sources, asked, examples)


def is_filled(source: str, target: str | Sequence[str]) -> bool:
    """Whether there is something on both sides."""
    return bool(source.strip() and (target.strip() if isinstance(target, str) else target))


def read_target(tokenizers: Tokenizers, target: str | Sequence[str]) -> tuple[int, ...]:
    """The ids of a target: a text, whose END is appended, or tokens that a decoder listed."""
    if isinstance(target, str):
        return (*tokenizers.target.encode(target), END)
    return tuple(tokenizers.target.token_ids(target))


def cut_batches(
    order: Sequence[int], sources: dict[int, Opened], batch_size: int, beam: int
) -> Iterator[list[int]]:
    """Cut texts sorted by length into batches, fewer rows where they are long."""
    batch: list[int] = []
    for i in order:
        positions = (len(batch) + 1) * beam * len(sources[i].ids)
        if batch and (len(batch) == batch_size or positions > MOST_POSITIONS):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def set_aside(
    lengths: dict[int, int], limit: int | None, problem: str, answers: list[Translation]
) -> list[int]:
    """Which texts have more tokens than `limit` (None: any may be); their answers say `problem`."""
    long = [i for i, length in lengths.items() if limit is not None and length > limit]
    for i in long:
        answers[i] = replace(BLANK, problem=problem.format(length=lengths[i], limit=limit))
    return long
