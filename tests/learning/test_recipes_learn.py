"""Every recipe that is shipped learns, through the same training that users run."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from regard.training.continuation import flat
from regard.training.recipes import load_recipe, recipe_names
from regard.training.train import train

from .small import scenes, small


@dataclass(frozen=True)
class Wanted:
    """Percent of sentences that must be right, and what a recipe needs beside `small`'s settings.

    languages: descriptions in the first become those in the second.
    """

    exact: float = 90.0
    settings: tuple[str, ...] = ()
    languages: tuple[str, str] = ("en", "de")


_LONGER = "training.maximum_updates=1000"
_WIDER = "model.embedding.size=64"
_POST_NORM = (
    "training.maximum_updates=3500",
    _WIDER,
    "training.learning_rate=0.0005",
    "training.warmup=800",
)
_ONE_LAYER = (_WIDER, "training.learning_rate=0.003", "training.warmup=100")
#: Recipes that the settings of all do not suit, and why.
EXCEPTIONS = {
    # One vector carries the sentence: that is what this recipe is there to show.
    "seq2seq": Wanted(exact=60.0),
    # The window follows the step's own number, and German turns sentences around.
    "luong-local-m": Wanted(settings=(_LONGER,)),
    # It reads forward alone, and German turns sentences around.
    "hard-monotonic": Wanted(settings=(_LONGER,)),
    # Six and six layers that are normed after the sum: for 1,000 updates they do not look at the
    # source at all, at any rate of learning; then they do.
    "transformer-base": Wanted(settings=_POST_NORM),
    # One layer does the work of all steps.
    "universal-transformer": Wanted(settings=_ONE_LAYER),
    "universal-transformer-act": Wanted(settings=_ONE_LAYER),
    # Where to look is learned by its own network, before anything can be read there.
    "luong-local-p": Wanted(settings=(_LONGER,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("recipe", recipe_names(pictures=False))
def test_recipe_learns(recipe: str, tmp_path: Path) -> None:
    wanted = EXCEPTIONS.get(recipe, Wanted())
    learned, held_out = scenes(*wanted.languages)
    configuration = small(recipe, *wanted.settings)
    result = train(configuration, learned, held_out, tmp_path / "run", progress=False)
    assert result.score >= wanted.exact, f"{result.score:.1f} % of the held-out sentences"


def test_exceptions_are_recipes() -> None:
    assert set(EXCEPTIONS) <= set(recipe_names())


@pytest.mark.parametrize("recipe", recipe_names(pictures=False))
def test_small_is_the_same_model(recipe: str) -> None:
    """Only widths, dropout and the first weights differ from the recipe's own."""
    wanted = EXCEPTIONS.get(recipe, Wanted())
    configurations = load_recipe(recipe), small(recipe, *wanted.settings)
    before, after = (flat(each.as_dict()["model"]) for each in configurations)
    changed = {key for key in before if before[key] != after[key]}
    unlike = {key for key in changed if not key.endswith(("size", "dropout", "initialization"))}
    assert before.keys() == after.keys() and not unlike
