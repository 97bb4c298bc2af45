"""How many steps a model took over every token, where its steps are adaptive."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from regard.evaluation.answer import step_columns
from regard.evaluation.translation import Translation
from regard.models import Model
from regard.search import Ensemble


def source_pondering(
    model: Model | Ensemble, memory: Any, lengths: Int[Tensor, " batch"]
) -> list[Float[Tensor, "positions 2"] | None]:
    """Of each row of the memory, over its real positions; None where steps are not adaptive."""
    pondering = model.pondering(memory)
    if pondering is None:
        return [None] * len(lengths)
    return [row[:length] for row, length in zip(pondering, lengths.tolist(), strict=True)]


def with_steps(
    answer: Translation,
    source: Float[Tensor, "source 2"] | None,
    written: Float[Tensor, "tokens 2"] | None,
) -> Translation:
    """The answer with the steps that its tokens took."""
    source_steps, source_ponder = step_columns(source)
    steps, ponder = step_columns(written)
    return replace(
        answer,
        source_steps=source_steps,
        source_ponder=source_ponder,
        steps=steps,
        ponder=ponder,
    )
