"""Leaving out: what a target loses where a part of its source is not there (Li et al. 2016).

The target is given, so every step reads the same tokens before it and only the source differs. All
copies of a source, the whole one and those that lack a part, are computed side by side.

A part can be left out in two ways (`How`):

- `hidden`: the source is read as it is, and then nothing can be attended to at the part: what the
  decoder takes from these very positions is gone, what their neighbors know of them is not.
- `removed`: the source is read without the part, as if it had never been written (the leave-one-out
  of Jain and Wallace 2019, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.batches import Batch, Example, collate
from regard.evaluation.asking import MOST_POSITIONS
from regard.evaluation.hiding import hide
from regard.models import Model
from regard.search import Ensemble

How = Literal["hidden", "removed"]
#: Positions of a source that are left out together: a token, or those of a word.
Part = tuple[int, ...]

#: Most copies of sources computed at once: memory stays bounded whatever the vocabulary.
MOST_ROWS = 512
#: Log-probabilities below it count as this much, so that differences of them are numbers.
_LEAST = -1e4


@dataclass(frozen=True)
class LeftOut:
    """What each step does without each part of the source.

    log_probabilities: natural-log probability of each token of the target, by the whole source.
    falls: how much lower it is without the part, in nats; negative where it is higher.
    distances: total variation distance, 0 to 1, between what could be written by the whole source
        and without the part: half the sum of the differences of all probabilities.
    """

    log_probabilities: Float[Tensor, " steps"]
    falls: Float[Tensor, "parts steps"]
    distances: Float[Tensor, "parts steps"]


class _Copies(NamedTuple):
    """Some parts of an example, the first of this number, to be left out of a copy each.

    number: of the example.
    """

    number: int
    first: int
    parts: Sequence[Part]


@torch.no_grad()
def leave_out(
    model: Model | Ensemble,
    examples: Sequence[Example],
    parts: Sequence[Sequence[Part]],
    how: How = "removed",
) -> list[LeftOut]:
    """Give the model each example's target without each of the parts of its source, in order.

    Args:
        examples: sources and targets as ids, END appended to both; or, with ``hidden``, pictures.
        parts: of each example; positions of its source. An example may have none.

    Raises:
        ValueError: as many lists of parts as examples are needed; positions that are not there;
            a part of a picture cannot be removed, nor can the whole of a text.
    """
    if len(examples) != len(parts):
        raise ValueError(f"{len(parts)} lists of parts for {len(examples)} examples")
    for example, each in zip(examples, parts, strict=True):
        _check(example, each, how)
    found = [_nothing(example, len(each)) for example, each in zip(examples, parts, strict=True)]
    for copies in _batches(examples, parts):
        for one, (whole, falls, distances) in zip(
            copies, _compare(model, examples, copies, how), strict=True
        ):
            known, after = found[one.number], one.first + len(one.parts)
            known.log_probabilities.copy_(whole)
            known.falls[one.first : after] = falls
            known.distances[one.first : after] = distances
    return found


def each_token(example: Example) -> list[Part]:
    """Every position of a text by itself, but for END, without which no source is."""
    return [(position,) for position in range(len(example.source) - 1)]


def _check(example: Example, parts: Sequence[Part], how: How) -> None:
    length = len(example.source)
    if how == "removed" and not isinstance(example.source, tuple):
        raise ValueError("a part of a picture can be hidden, not removed")
    for part in parts:
        if not all(0 <= position < length for position in part):
            raise ValueError(f"positions {part} of a source of {length}")
        if how == "removed" and len(set(part)) == length:
            raise ValueError("nothing would be left of the source")


def _nothing(example: Example, parts: int) -> LeftOut:
    steps = len(example.target)
    return LeftOut(torch.zeros(steps), torch.zeros(parts, steps), torch.zeros(parts, steps))


def _batches(
    examples: Sequence[Example], parts: Sequence[Sequence[Part]]
) -> Iterator[list[_Copies]]:
    """Copies of examples of about one length, at most `MOST_ROWS` and `MOST_POSITIONS` in all."""
    order = sorted(
        range(len(examples)), key=lambda i: (len(examples[i].source), len(examples[i].target), i)
    )
    batch: list[_Copies] = []
    rows = 0
    for index in order:
        length = max(1, len(examples[index].source))
        most = max(2, min(MOST_ROWS, MOST_POSITIONS // length))
        starts = range(0, max(1, len(parts[index])), most - 1)
        for first in starts:
            some = _Copies(index, first, parts[index][first : first + most - 1])
            if batch and rows + 1 + len(some.parts) > most:
                yield batch
                batch, rows = [], 0
            batch.append(some)
            rows += 1 + len(some.parts)
    if batch:
        yield batch


def _compare(
    model: Model | Ensemble, examples: Sequence[Example], batch: Sequence[_Copies], how: How
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Of each of the copies: log-probabilities, falls and distances, cut to its own steps."""
    wholes: list[int] = []  # of each row, the row of its whole source
    for copies in batch:
        wholes += [len(wholes)] * (1 + len(copies.parts))
    memory, given = _memory(model, examples, batch, how)
    whole = torch.tensor(wholes)
    chosen, distances = [], []
    state = model.start(memory)
    for step in range(given.inputs.shape[1]):
        output = model.step(given.inputs[:, step], state)
        state = output.state
        scores = output.log_probabilities.float().clamp(min=_LEAST)
        chosen.append(scores.gather(1, given.outputs[:, step, None]).squeeze(1))
        shares = scores.exp()
        distances.append((shares - shares[whole]).abs().sum(1) / 2)
    gains, apart = torch.stack(chosen, 1).cpu(), torch.stack(distances, 1).cpu()
    row = 0
    for copies in batch:
        steps, after = len(examples[copies.number].target), row + 1 + len(copies.parts)
        own = gains[row, :steps]
        yield own, own - gains[row + 1 : after, :steps], apart[row + 1 : after, :steps]
        row = after


def _memory(
    model: Model | Ensemble, examples: Sequence[Example], batch: Sequence[_Copies], how: How
) -> tuple[Any, Batch]:
    """The memory of every copy, and what is given to it, row by row."""
    if how == "removed":
        rows = []
        for copies in batch:
            example = examples[copies.number]
            assert isinstance(example.source, tuple)
            rows.append(example)
            rows += [
                replace(example, source=_without(example.source, part)) for part in copies.parts
            ]
        given = collate(rows, range(len(rows)))
        return model.encode(given.source, given.source_mask), given
    once = collate([examples[copies.number] for copies in batch], range(len(batch)))
    counts = [1 + len(copies.parts) for copies in batch]
    repeated = torch.repeat_interleave(torch.tensor(counts))
    hidden = torch.zeros(len(repeated), once.source_mask.shape[1], dtype=torch.bool)
    parts = (part for copies in batch for part in ((), *copies.parts))
    for row, part in enumerate(parts):
        hidden[row, list(part)] = True
    memory: Any = model.encode(once.source, once.source_mask)
    given = Batch(
        once.source[repeated],
        once.source_mask[repeated],
        once.inputs[repeated],
        once.outputs[repeated],
        once.mask[repeated],
        repeated.tolist(),
    )
    return hide(_select(memory, repeated), hidden), given


def _without(source: tuple[int, ...], part: Part) -> tuple[int, ...]:
    return tuple(token for position, token in enumerate(source) if position not in part)


def _select(memory: Any, rows: Tensor) -> Any:
    """Rows of a memory, or of that of each of several models."""
    if isinstance(memory, tuple):
        return tuple(_select(each, rows) for each in memory)
    return memory.select(rows)
