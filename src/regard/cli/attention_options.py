"""Which attention alignments are read from, as `--layer`, `--head` and `--shift` tell it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from regard.cli.streams import report
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.data.pairs import Pairs
    from regard.evaluation.aligning import Aligner
    from regard.evaluation.attention_choice import AttentionChoice
    from regard.evaluation.choosing import ChosenAttention

#: The layer that is to be found.
CHOSEN = "chosen"
#: Pairs that are looked at where it is found without gold links.
LOOKED_AT = 1000
Value = TypeVar("Value")


@dataclass(frozen=True)
class AttentionOptions:
    """What was given: of each option nothing, a value for both directions, or one for each.

    reverse: whether there is a second direction.
    """

    layers: Sequence[str]
    heads: Sequence[int]
    shifts: Sequence[int]
    reverse: bool

    def __post_init__(self) -> None:
        named = {"layer": self.layers, "head": self.heads, "shift": self.shifts}
        for name, values in named.items():
            if len(values) > 1 + self.reverse:
                two = "one for --model and one for --reverse" if self.reverse else "give it once"
                raise UserError(f"--{name} is given {len(values)} times: {two}")
        for layer in self.layers:
            if layer != CHOSEN and not (layer.isascii() and layer.isdigit()):
                raise UserError(f"--layer {layer} should be a number from 1, or {CHOSEN}")
        for direction in range(1 + self.reverse):
            both = [_of(values, direction) for values in (self.heads, self.shifts)]
            if self.is_chosen(direction) and both != [None, None]:
                raise UserError(f"--layer {CHOSEN} finds head and shift as well: leave them out")

    def is_chosen(self, direction: int) -> bool:
        """Whether the attention of a direction, 0 or 1, is to be found."""
        return _of(self.layers, direction) == CHOSEN

    @property
    def any_is_chosen(self) -> bool:
        """Whether something is to be found."""
        return CHOSEN in self.layers

    def choice(self, direction: int) -> "AttentionChoice":
        """What was asked for in a direction where nothing is to be found."""
        from regard.evaluation.attention_choice import AttentionChoice

        layer, head = _of(self.layers, direction), _of(self.heads, direction)
        number = None if layer is None else int(layer)
        return AttentionChoice(number, head, _of(self.shifts, direction) or 0)


def choose(
    options: AttentionOptions, aligners: "Sequence[Aligner]", valid: "Pairs", gold: Path | None
) -> "list[AttentionChoice]":
    """The attention of each direction, found where it is to be; what was found is told.

    valid: pairs to find it by. gold: a file of their links; without it two directions that are
    both to be found are chosen to agree, and a single one by what its attention tells.
    """
    from regard.cli.gold import read_gold
    from regard.evaluation.choosing import (
        choose_by_agreement,
        choose_by_gold,
        choose_by_information,
    )

    looked_at = None if gold is not None else LOOKED_AT
    pairs = [(pair.source, pair.target) for pair in valid][:looked_at]
    ways = pairs, [(target, source) for source, target in pairs]
    forward = replace(aligners[0], features=_features(valid, looked_at))
    aligners = [forward, *aligners[1:]]
    open_ways = [way for way in range(len(aligners)) if options.is_chosen(way)]
    found: dict[int, ChosenAttention] = {}
    if gold is not None:
        links = read_gold(gold, valid, forward.lengths(pairs), forward.unit)
        true = links, [each.turned() for each in links]
        for way in open_ways:
            found[way] = choose_by_gold(aligners[way], ways[way], true[way])
    elif len(open_ways) == 2:
        found = dict(enumerate(choose_by_agreement(aligners[0], aligners[1], pairs)))
    else:
        for way in open_ways:
            found[way] = choose_by_information(aligners[way], ways[way])
    for way, chosen in found.items():
        _tell(("--model", "--reverse")[way], chosen)
    return [
        found[way].choice if way in found else options.choice(way) for way in range(len(aligners))
    ]


def _features(pairs: "Pairs", count: int | None) -> list[str] | None:
    features = pairs.features()
    return None if features is None else features[:count]


def _tell(which: str, chosen: "ChosenAttention") -> None:
    choice, measure = chosen.choice, chosen.measure
    again = [] if choice.layer is None else [f"--layer {choice.layer}"]
    again += [] if choice.head is None else [f"--head {choice.head}"]
    again += [f"--shift {choice.shift}"] if choice.shift else []
    how = f" ({' '.join(again)})" if again else ""
    report(
        f"{which}: {choice}{how}; {measure}: {chosen.figure:.2f}, of the attention shown "
        f"{chosen.shown:.2f}"
    )


def _of(values: Sequence[Value], direction: int) -> Value | None:
    """The value for a direction: a single one is for both."""
    return values[min(direction, len(values) - 1)] if values else None
