"""Overrides: `section.key=value` from a command line, laid over the data of a recipe."""

from collections.abc import Sequence
from typing import Any

from regard.errors import UserError
from regard.training.configuration import Configuration
from regard.training.keys import section_at, valid_keys
from regard.training.problems import shown, unknown_key
from regard.training.yaml_text import parse_yaml


def apply_overrides(data: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """A copy of `data` with each `section.key=value` in its place, in their order.

    Values are YAML: `training.betas=[0.9, 0.999]`, `model.encoder={kind: transformer}`. A whole
    section replaces what was there; other keys of a section stay as they are.
    Raises UserError naming the override, for one that is not `key=value` or whose key is unknown.
    """
    paths = []
    for override in overrides:
        path, value = _parsed(override)
        data = _placed(data, path, value, override)
        paths.append((override, path))
    for override, path in paths:  # checked at the end: `kind`, which decides, may come later
        _check(data, path, override)
    return data


def _parsed(override: str) -> tuple[tuple[str, ...], Any]:
    dotted, equals, text = override.partition("=")
    path = tuple(part.strip() for part in dotted.split("."))
    if not equals or not all(path):
        raise UserError(
            f"--set {override}: write section.key=value, as in training.learning_rate=0.001"
        )
    return path, parse_yaml(text, f"--set {override}")


def _check(data: dict[str, Any], path: tuple[str, ...], override: str) -> None:
    for number, key in enumerate(path):
        sections = section_at(Configuration, data, path[:number])
        if not sections:
            parent = ".".join(path[:number])
            raise UserError(f"--set {override}: {parent} is a single value and has no keys")
        if key not in valid_keys(Configuration, data, path[:number]):
            told = unknown_key(data, path[:number], key, path[number + 1 :])
            raise UserError(f"--set {override}: {told}")


def _placed(data: Any, path: tuple[str, ...], value: Any, override: str) -> dict[str, Any]:
    if data is not None and not isinstance(data, dict):
        raise UserError(f"--set {override}: {shown(data)} stands where a section should be")
    inside = dict(data or {})
    key, *rest = path
    inside[key] = _placed(inside.get(key), tuple(rest), value, override) if rest else value
    return inside
