"""Which attention an alignment is read from: a layer, a head, a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from jaxtyping import Float
from torch import Tensor

from regard.data.batches import Batch
from regard.errors import UserError
from regard.models import Model
from regard.search import Ensemble


@dataclass(frozen=True)
class AttentionChoice:
    """What a target token is taken to have attended to.

    layer: counted from 1, the one that reads the embeddings; of a Universal Transformer a step.
        None = the attention that `show` draws.
    head: of that layer, counted from 1; None = the mean over its heads.
    shift: 0 = the step that predicts the token; 1 = the next one, which has read it (Chen et al.
        2020, "Shift-Att").
    """

    layer: int | None = None
    head: int | None = None
    shift: int = 0

    def __str__(self) -> str:
        layer = "the attention shown" if self.layer is None else f"layer {self.layer}"
        head = f", head {self.head}" if self.head is not None else ""
        mean = ", mean over heads" if self.layer is not None and self.head is None else ""
        return f"{layer}{head}{mean}{', one step later' if self.shift else ''}"


def check_choice(model: Model | Ensemble, choice: AttentionChoice) -> None:
    """Raises UserError for a layer or a head that the model has not, or a shift of no use to it."""
    layers, heads = model.attention_layers, model.attention_heads
    if choice.shift not in (0, 1):
        raise UserError(f"shift {choice.shift} should be 0 or 1: at most one step later")
    if choice.head is not None and choice.layer is None:
        raise UserError(f"head {choice.head} of which layer? give the layer too")
    if layers == 0 and choice != AttentionChoice():
        raise UserError(f"no attention can be chosen here: {_why_there_is_no_choice(model)}")
    for name, number, most in (("layer", choice.layer, layers), ("head", choice.head, heads)):
        if number is not None and not 1 <= number <= most:
            there = f"{name}s 1 to {most}" if most > 1 else f"one {name}, number 1"
            raise UserError(f"there is no {name} {number}: the attention of this model has {there}")


def candidates(
    model: Model | Ensemble, *, heads: bool, shifts: bool
) -> tuple[AttentionChoice, ...]:
    """What can be chosen: first what `show` draws, then layer by layer, the mean over heads first.

    heads: whether single heads are among it. shifts: whether the steps after are.
    """
    several = heads and model.attention_heads > 1
    every: list[int | None] = [None, *range(1, model.attention_heads + 1)] if several else [None]
    later = (0, 1) if shifts else (0,)
    layers = range(1, model.attention_layers + 1)
    found = [AttentionChoice(*each) for each in product(layers, every, later)]
    shown = [AttentionChoice(shift=shift) for shift in later] if found else [AttentionChoice()]
    return (*shown, *found)


def attentions(
    model: Model | Ensemble, batch: Batch, choices: Iterable[AttentionChoice]
) -> Iterator[tuple[AttentionChoice, Float[Tensor, "batch steps source"] | None]]:
    """What each step attends to by each of the choices, not shifted yet; a layer at a time.

    None where a model has no attention. Layers above the last that is chosen are not computed.
    """
    wanted: dict[int | None, list[AttentionChoice]] = {}
    for choice in choices:
        wanted.setdefault(choice.layer, []).append(choice)
    memory: Any = model.encode(batch.source, batch.source_mask)
    shown = wanted.pop(None, [])
    if shown:
        weights = model.shown_attention(memory, batch.inputs, batch.outputs, batch.mask)
        yield from ((choice, weights) for choice in shown)
    if not wanted or isinstance(model, Ensemble):
        return
    layers = model.attention_by_layer(memory, batch.inputs)
    for number, heads in enumerate(islice(layers, max(filter(None, wanted))), start=1):
        for choice in wanted.get(number, []):
            yield choice, heads.mean(1) if choice.head is None else heads[:, choice.head - 1]


def _why_there_is_no_choice(model: Model | Ensemble) -> str:
    if isinstance(model, Ensemble):
        return "several models are aligned by the mean of what each of them shows"
    return "hard attention tells what each step read, and a model without attention tells nothing"
