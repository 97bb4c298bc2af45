"""Recipes: configurations with a name, shipped with the package or a user's own files."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any

from regard.errors import UserError
from regard.training.configuration import Configuration
from regard.training.overrides import apply_overrides
from regard.training.problems import resolve
from regard.training.yaml_text import parse_mapping, read_yaml

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True)
class Recipe:
    """A recipe that comes with the package: its name, one line about it, its YAML."""

    name: str
    description: str
    text: str


def list_recipes() -> list[Recipe]:
    """The recipes of the package, by name."""
    return [shipped_recipe(name) for name in recipe_names()]


def recipe_names(*, pictures: bool | None = None) -> list[str]:
    """The names of the recipes of the package, sorted.

    pictures: those that read pictures, or those that read texts; None = all.
    """
    folder = resources.files("regard").joinpath("recipes")
    names = sorted(
        entry.name.removesuffix(".yaml")
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml")
    )
    if pictures is None:
        return names
    return [name for name in names if load_recipe(name).model.reads_pictures == pictures]


def shipped_recipe(name: str) -> Recipe:
    """A recipe of the package. Raises UserError naming the nearest one when there is none."""
    names = recipe_names()
    if name not in names:
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}? There are" if near else "there are"
        listed = ", ".join(names) or "none"
        raise UserError(f"there is no recipe {name}: {hint} {listed}, or give a .yaml file")
    file = resources.files("regard").joinpath("recipes").joinpath(f"{name}.yaml")
    text = file.read_bytes().decode("utf-8")
    description = parse_mapping(text, f"recipe {name}").get("description", "")
    return Recipe(name, description, text)


def load_recipe(recipe: str | Path, overrides: Sequence[str] = ()) -> Configuration:
    """The configuration of a recipe's name or of a YAML file, with `section.key=value` laid over.

    A file may be a run's `config.yaml` too. Raises UserError, in one line that names the file or
    the override, for an unknown name, bad YAML, an unknown key or a wrong value.
    """
    data, origin = _recipe_data(recipe)
    if not overrides:
        return resolve(data, origin)
    resolve(data, origin)  # so that what is wrong in the file is not put down to an override
    return resolve(apply_overrides(data, overrides), f"{origin} with --set {' '.join(overrides)}")


def _recipe_data(recipe: str | Path) -> tuple[dict[str, Any], str]:
    path = Path(recipe)
    if isinstance(recipe, str) and path.suffix not in SUFFIXES and path.name == recipe:
        shipped = shipped_recipe(recipe)
        data = parse_mapping(shipped.text, f"recipe {recipe}")
        return {"recipe": recipe, **data}, f"recipe {recipe}"
    data = read_yaml(path, "a recipe")
    facts = ("regard", "vocabulary", "grid")  # what a run's config.yaml says besides
    return {"recipe": path.stem, **{k: v for k, v in data.items() if k not in facts}}, str(path)
