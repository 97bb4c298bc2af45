"""Widths: a recipe made narrower or wider as a whole, until it has a given number of parameters."""

from collections.abc import Sequence

from parameters import parameters_of
from regard.errors import UserError
from regard.models import build_model
from regard.models.copies import NEVER
from regard.training.configuration import Configuration
from regard.training.continuation import flat
from regard.training.recipes import load_recipe


def count_parameters(configuration: Configuration, source: int, target: int) -> int:
    """How many numbers the model learns with vocabularies of these sizes."""
    # What is copied as what changes no number; without a table two vocabularies are refused.
    copies = [NEVER] * source if configuration.model.copies else None
    return parameters_of(build_model(configuration.model, source, target, copies=copies))


def widths_for(
    recipe: str, settings: Sequence[str], parameters: int, source: int, target: int
) -> tuple[str, ...]:
    """Overrides of every width of the model, so that it has about `parameters` in all.

    The widths keep their proportions, but for rounding, and heads divide them. They come after
    `settings`, which may not choose widths of their own. source, target: sizes of the vocabularies.
    Raises UserError when no width comes within a tenth.
    """
    section = load_recipe(recipe, settings).as_dict()["model"]
    leaves = flat(section, "model.")
    found = {key: value for key, value in leaves.items() if key.endswith("size")}
    step = max([1, *(value for key, value in leaves.items() if key.endswith(".heads"))])

    def overrides(width: int) -> tuple[str, ...]:
        scaled = _scaled(set(found.values()), width)
        return tuple(f"{key}={scaled[value]}" for key, value in found.items())

    def count(width: int) -> int:
        return count_parameters(load_recipe(recipe, [*settings, *overrides(width)]), source, target)

    high = 1  # in steps; parameters grow with the width
    while count(high * step) < parameters:
        high *= 2
    low = max(high // 2, 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle * step) <= parameters else (low, middle)
    best = min((low * step, high * step), key=lambda width: abs(count(width) - parameters))
    if abs(count(best) - parameters) > parameters / 10:
        raise UserError(
            f"recipe {recipe} cannot have about {parameters:,} parameters: the nearest width gives "
            f"{count(best):,}; ask for another number"
        )
    return overrides(best)


def _scaled(widths: set[int], narrowest: int) -> dict[int, int]:
    """Each width's new value: multiples of another stay that, the rest come near."""
    made: dict[int, int] = {}
    for width in sorted(widths):
        of = max((known for known in made if width % known == 0), default=0)
        made[width] = (
            made[of] * (width // of) if of else max(1, round(width * narrowest / min(widths)))
        )
    return made
