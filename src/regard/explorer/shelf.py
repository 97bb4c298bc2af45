"""The shelf: models that were loaded once, and what became of their directories since."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import UserError
from regard.training.run import MODEL

if TYPE_CHECKING:
    from regard.api import Model

#: Most models side by side.
MOST_MODELS = 6


@dataclass(frozen=True)
class Shelved:
    """A model as it was loaded.

    name: short, and different from the others'. stamp: of its weights on disk at that time.
    """

    name: str
    model: Model
    stamp: tuple[int, ...] | None

    @property
    def reads_photos(self) -> bool:
        """Whether it captions photos; else it reads texts."""
        return self.model.reads_pictures

    def notice(self) -> str | None:
        """What is to be known of an answer: it comes from memory, whatever the disk holds now."""
        directory = self.model.directory
        now = _stamp(directory)
        if now is None:
            return (
                f"{directory} is no longer there. This answer comes from the model as it was "
                "loaded; it cannot be loaded again."
            )
        if now != self.stamp:
            return (
                f"{directory} has changed since it was loaded. This answer comes from the model "
                "as it was; start the explorer again to see the new one."
            )
        return None

    def described(self) -> dict[str, Any]:
        """What the page is told of it."""
        model = self.model
        return {
            "name": self.name,
            "recipe": model.configuration.recipe,
            "photos": model.reads_pictures,
            "features": model.tokenizers.features is not None,
            "subwords": model.tokenizers.target.kind == "subword",
            "beam": model.configuration.search.beam,
        }


def shelve(models: Sequence[Model]) -> list[Shelved]:
    """Models to stand side by side. Raises UserError where they cannot be asked the same."""
    if len(models) > MOST_MODELS:
        raise UserError(f"{len(models)} models; at most {MOST_MODELS} stand side by side")
    for model in models:
        if model.reads_pictures != models[0].reads_pictures:
            read = {True: "images", False: "texts"}
            raise UserError(
                f"{models[0].directory} reads {read[models[0].reads_pictures]}, {model.directory} "
                f"{read[model.reads_pictures]}: they cannot be asked the same; explore them apart"
            )
        if model.reads_pictures:
            model.needed_backbone()
    names = _names([model.directory for model in models])
    return [
        Shelved(name, model, _stamp(model.directory))
        for name, model in zip(names, models, strict=True)
    ]


def _names(directories: Sequence[Path]) -> list[str]:
    """The last part of each path, or all of it where that is not enough; numbered if need be."""
    last = [directory.resolve().name for directory in directories]
    if len(set(last)) == len(last):
        return last
    whole = [str(directory) for directory in directories]
    if len(set(whole)) == len(whole):
        return whole
    return [f"{name} ({number})" for number, name in enumerate(whole, 1)]


def _stamp(directory: Path) -> tuple[int, ...] | None:
    """Which weights the directory holds; None without any."""
    try:
        found = os.stat(directory / MODEL)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
