"""Captioning recipes learn scenes: pictures that training never showed are described right."""

from pathlib import Path

import pytest

import regard
from regard.data.scenes import simple_scenes
from regard.demo.captioner import captioner, pictured
from regard.demo.outcome import grade_pictures
from regard.training.recipes import load_recipe, recipe_names
from regard.training.train import train

from .pictures import small_captioner

LEARNED, HELD_OUT = 2000, 100
#: Percent of held-out pictures whose description must be right, word by word.
WANTED = 80.0
#: Recipes that the settings of all do not suit, and why.
EXCEPTIONS: dict[str, tuple[float, tuple[str, ...]]] = {
    # One vector for the whole picture: that is what this recipe is there to show.
    "show-tell": (30.0, ()),
    # Where to look is learned from rewards, which come slowly.
    "show-attend-tell-hard": (60.0, ("training.maximum_updates=1500",)),
}


def learns(recipe: str, directory: Path, wanted: float, *more: str) -> None:
    configuration, backbone = small_captioner(recipe, *more)
    scenes = simple_scenes(LEARNED + HELD_OUT, 1)
    learned, held_out = (pictured(some, backbone) for some in (scenes[:LEARNED], scenes[LEARNED:]))
    result = train(
        configuration, learned, held_out, directory / "run", backbone=backbone, progress=False
    )
    assert result.score >= wanted, f"{result.score:.1f} % of the held-out pictures"


def test_soft_attention_learns(tmp_path: Path) -> None:
    learns("show-attend-tell-soft", tmp_path, WANTED)


@pytest.mark.slow
@pytest.mark.parametrize(
    "recipe", [name for name in recipe_names(pictures=True) if name != "show-attend-tell-soft"]
)
def test_recipe_learns(recipe: str, tmp_path: Path) -> None:
    wanted, more = EXCEPTIONS.get(recipe, (WANTED, ()))
    learns(recipe, tmp_path, wanted, *more)


@pytest.mark.slow
def test_the_demo_tells_pictures_and_looks_at_what_it_names(tmp_path: Path) -> None:
    task = captioner(1)
    configuration = load_recipe(task.recipe, (*task.settings, "training.threads=1"))
    result = train(
        configuration,
        task.train,
        task.valid,
        tmp_path / "run",
        backbone=task.backbone,
        progress=False,
    )
    pointing = grade_pictures(regard.load(tmp_path / "run"), task)
    assert result.score >= 90.0, f"{result.score:.1f} % of the validation pictures"
    assert pointing.accuracy.value >= 80.0 > 4 * pointing.chance, pointing.rows()


def test_exceptions_are_recipes() -> None:
    assert set(EXCEPTIONS) <= set(recipe_names(pictures=True))
