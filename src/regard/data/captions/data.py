"""Data: images and their captions, and how they are split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import overload

from regard.errors import UserError

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class Captioned:
    """An image and what is said of it.

    image: the file, which exists; its name alone where images were not looked for.
    captions: one or more, none blank, in the order of the file.
    identifier: what the captions file calls the image: its name, or COCO's number.
    split: `train`, `valid` or `test`; None where the file says nothing.
    """

    image: Path
    captions: tuple[str, ...]
    identifier: str | int
    split: str | None = None


@dataclass(frozen=True)
class CaptionData(Sequence[Captioned]):
    """Captioned images in the order of their file; each image comes once.

    origin: where they come from, for messages.
    blank: how many captions were dropped because they were empty or only white space.
    missing: those whose images are not there, where such were to be skipped.
    """

    examples: tuple[Captioned, ...]
    origin: str
    blank: int = 0
    missing: tuple[Captioned, ...] = ()

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Captioned]:
        return iter(self.examples)

    @overload
    def __getitem__(self, index: int) -> Captioned: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Captioned, ...]: ...
    def __getitem__(self, index: int | slice) -> Captioned | tuple[Captioned, ...]:
        return self.examples[index]

    def images(self) -> list[Path]:
        """The file of every image."""
        return [example.image for example in self.examples]

    def chosen(self, indices: Sequence[int]) -> CaptionData:
        """The examples at these places, such as those whose images could be read."""
        return replace(self, examples=tuple(self.examples[index] for index in indices))

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that the images are in, in the order train, valid, test."""
        present = {example.split for example in self.examples}
        return tuple(split for split in SPLITS if split in present)

    def split(self, name: str) -> CaptionData:
        """The images of one split. Raises UserError where there are none."""
        if name not in self.splits:
            there = f"it has {', '.join(self.splits)}" if self.splits else "it carries no splits"
            raise UserError(f"{self.origin} has no split {name!r}; {there}")
        chosen, missing = (
            tuple(example for example in examples if example.split == name)
            for examples in (self.examples, self.missing)
        )
        origin = f"{self.origin} ({name})"
        return replace(self, examples=chosen, missing=missing, origin=origin)

    def shared(self, valid: float = 0.1, test: float = 0.0, seed: int = 1) -> CaptionData:
        """All images, each put into a split by a share drawn from `seed`, whole images at a time.

        valid, test: shares of the images, at least one image where the share is above 0. The draw
        depends on the identifiers alone and not on their order; images that are missing count as
        those of training. Raises UserError when no image is
        left for training.
        """
        counts = [max(1, round(share * len(self))) if share > 0 else 0 for share in (valid, test)]
        if sum(counts) >= len(self):
            raise UserError(
                f"{self.origin}: {len(self)} images are too few for {counts[0]} to validate on and "
                f"{counts[1]} to test on; give more images or smaller shares"
            )
        order = sorted(range(len(self)), key=lambda i: str(self.examples[i].identifier))
        Random(seed).shuffle(order)
        names = ["valid"] * counts[0] + ["test"] * counts[1]
        chosen = dict(zip(order, names, strict=False))
        return replace(
            self,
            examples=tuple(
                replace(example, split=chosen.get(index, "train"))
                for index, example in enumerate(self.examples)
            ),
            missing=tuple(replace(example, split="train") for example in self.missing),
        )
