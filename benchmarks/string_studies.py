"""Studies of models that learn strings: one recipe, one task, one range of lengths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.pairs import Pairs
from runs import Job, Study
from strings import Task
from widths import widths_for

#: Of every model of strings, but for how its batches are made and when it ends.
SETTINGS = (
    "tokenization={joint: true, source: {kind: character}, target: {kind: character}}",
    "model.embedding.dropout=0",
    "model.encoder.dropout=0",
    "model.decoder.dropout=0",
    "model.initialization=glorot",
    "training.cooldown=0.3",
    "training.label_smoothing=0",
    "training.metric=symbol_error_rate",
    "training.patience=0",
    "training.average.kind=none",
    "search={beam: 1, length_penalty: 0, maximum_length_ratio: 1.0, maximum_length_extra: 20}",
)
METRICS = ("exact_match", "symbol_error_rate")


@dataclass(frozen=True)
class Sizes:
    """How large the models are, how long they learn, how many strings each figure rests on."""

    parameters: int
    updates: int
    strings: int


@dataclass(frozen=True)
class Strings:
    """A task with its strings: learned from up to a length, and measured at each of some."""

    task: Task
    longest: int
    learned: Pairs
    valid: Pairs
    tests: Mapping[str, Pairs]


def string_study(
    recipe: str,
    strings: Strings,
    settings: Sequence[str],
    sizes: Sizes,
    told: Mapping[str, Any] | None = None,
) -> Study:
    """A model of that many parameters; what is told of it is in its row and its name."""
    more = dict(told or {})
    place = [strings.task.name, strings.longest, recipe, *more.values()]
    chosen = (*SETTINGS, *settings, *ending(sizes.updates))
    symbols = strings.task.vocabulary
    widths = widths_for(recipe, chosen, sizes.parameters, symbols, symbols)
    return Study(
        Job("/".join(map(str, place)), recipe, (*chosen, *widths)),
        strings.learned,
        strings.valid,
        strings.tests,
        METRICS,
        {"part": strings.task.name, "longest": strings.longest, **more},
    )


def ending(updates: int) -> tuple[str, str]:
    """Where training ends, and validations: one halfway, one at the end."""
    return (
        f"training.maximum_updates={updates}",
        f"training.validation_interval={max(1, updates // 2)}",
    )
