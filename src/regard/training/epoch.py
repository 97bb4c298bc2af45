"""Epoch: one pass over the data, the same whenever it is planned."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from regard.data.batches import Example, bucket, encode_pairs, length_limit
from regard.data.pictures import Picture
from regard.training.session import Session


@dataclass(frozen=True)
class Epoch:
    """One pass over the data: its examples, and which of them are together in each batch."""

    number: int
    examples: Sequence[Example]
    batches: list[list[int]]


def plan_epoch(session: Session, number: int) -> Epoch:
    """The epoch of that number, from 0: always the same for one seed.

    Subwords are sampled anew, and so are views of pictures.
    """
    seed = session.configuration.training.seed
    batching, tokenization = session.configuration.batching, session.configuration.tokenization
    examples: Sequence[Example] = session.data.examples
    if tokenization.sampled:
        examples = encode_pairs(
            session.data.pairs,
            session.tokenizers,
            sample=True,
            seed=int(np.random.SeedSequence((seed, number)).generate_state(1)[0]),
            limit=length_limit(batching),
            opened=session.model.copies,
        )
    views = len(session.configuration.training.views)
    if views > 1:
        examples = _seen_anew(examples, views, np.random.default_rng((seed, number, views)))
    return Epoch(number, examples, bucket(examples, batching, seed, number))


def _seen_anew(
    examples: Sequence[Example], views: int, random: np.random.Generator
) -> list[Example]:
    """One view of the picture of each example, drawn with equal chances."""
    drawn = random.integers(views, size=len(examples)).tolist()
    return [
        replace(example, source=replace(example.source, view=view))
        if isinstance(example.source, Picture)
        else example
        for example, view in zip(examples, drawn, strict=True)
    ]
