"""A task of the demo: a model to train, measure and look into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from regard.data.alignment import Alignment
from regard.data.images.backbone import Backbone
from regard.data.pairs import Pairs
from regard.data.scenes import Scene


@dataclass(frozen=True)
class Gold:
    """A pair whose true alignment is known, between letters and phones or between words."""

    source: str
    target: str
    alignment: Alignment

    def lengths(self, unit: str) -> tuple[int, int]:
        """How many letters and phones, or how many words on each side."""
        source = self.source if unit == "letter" else self.source.split()
        return len(source), len(self.target.split())


@dataclass(frozen=True)
class Task:
    """A model to train, measure and look into.

    settings: overrides of the recipe, as ``--set`` takes them.
    gold: held-out pairs with their true alignments. unit: what is linked: letters to phones, or
        words to words.
    metrics: what is printed of the held-out pairs.
    shown: which of the gold pairs are drawn. scenes: the pictures behind those; of a captioner
        those behind all held-out pairs.
    backbone: of a captioner, what makes features of pictures.
    """

    name: str
    heading: str
    about: str
    recipe: str
    settings: tuple[str, ...]
    train: Pairs
    valid: Pairs
    test: Pairs
    metrics: tuple[str, ...]
    gold: tuple[Gold, ...] = ()
    unit: Literal["letter", "word"] = "word"
    shown: tuple[Gold, ...] = ()
    scenes: tuple[Scene, ...] = ()
    backbone: Backbone | None = None
