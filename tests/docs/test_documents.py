"""The documents: links lead somewhere, commands parse, code runs, what is named exists."""

import ast
import importlib
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from regard.cli.verbs import VERBS, application, load

from .documents import (
    DOCUMENTS,
    NAMES,
    ROOT,
    anchors,
    blocks,
    command_lines,
    inline,
    is_synopsis,
    links,
    read,
)

each_document = pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)


@each_document
def test_links_lead_somewhere(path: Path) -> None:
    for link in links(path):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_document_can_be_reached() -> None:
    found, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        found.add(path)
        local = (link.partition("#")[0] for link in links(path) if "://" not in link)
        linked = {(path.parent / name).resolve() for name in local if name.endswith(".md")}
        waiting += [each for each in linked & set(DOCUMENTS) if each not in found]
    assert found == set(DOCUMENTS)


def options(verb: str) -> set[str]:
    return {name for parameter in load(verb).params for name in parameter.opts} | {"--help", "-h"}


def named_options(arguments: list[str]) -> set[str]:
    words = (re.sub(r"[\[\]]", "", word).partition("=")[0] for word in arguments)
    return {word for word in words if re.fullmatch(r"--[a-z-]+", word)}


def check(arguments: list[str]) -> None:
    """Raise what the command line would say to these arguments; nothing is run."""
    verb, *rest = arguments
    if verb.startswith("-") or verb == "VERB":
        group: Any = application()
        assert isinstance(group, TyperGroup)
        known = {name for parameter in group.params for name in parameter.opts} | {"--help"}
        assert named_options(arguments) <= known, arguments
        return
    assert verb in VERBS, arguments
    if is_synopsis(rest) or any(word.isupper() for word in rest[:1]):
        known = options(verb) | {"--no-images"}
        assert named_options(rest) <= known, (verb, named_options(rest) - known)
    elif "--help" not in rest:
        load(verb).make_context(verb, rest)


@each_document
def test_command_lines_parse(path: Path) -> None:
    for arguments in command_lines(path):
        try:
            check(arguments)
        except Exception as error:
            raise AssertionError(f"regard {' '.join(arguments)}: {error!r}") from error


@each_document
def test_commands_in_the_text_exist(path: Path) -> None:
    for code in inline(path):
        words = code.split()
        if words[:1] == ["regard"] and len(words) > 1:
            assert words[1] in VERBS or words[1] == "VERB" or words[1].startswith("--"), code
            if words[1] in VERBS:
                assert named_options(words[2:]) <= options(words[1]) | {"--no-images"}, code


def test_some_commands_are_found() -> None:
    """The tests above look at something: pipes, continued lines and synopses are among it."""
    verbs = [arguments[0] for path in DOCUMENTS for arguments in command_lines(path)]
    assert set(VERBS) <= set(verbs)
    guide = list(command_lines(ROOT / "docs" / "guide.md"))
    assert ["translate", "--model", "runs/scenes"] in guide  # behind a pipe
    assert any(len(arguments) > 20 for arguments in guide)  # joined over lines


@each_document
def test_settings_are_valid(path: Path) -> None:
    """Every line that trains a recipe gives a configuration that there can be."""
    from regard.training.recipes import load_recipe, recipe_names

    for arguments in command_lines(path):
        verb, recipe, *rest = [*arguments, ""]
        if verb != "train" or is_synopsis(arguments) or recipe not in recipe_names():
            continue
        settings = [value for name, value in pairwise(rest) if name == "--set"]
        load_recipe(recipe, settings)


@each_document
def test_python_names_exist(path: Path) -> None:
    for block in blocks(path, "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("regard"):
                module = importlib.import_module(str(node.module))
                for alias in node.names:
                    assert hasattr(module, alias.name), alias.name


@each_document
def test_dotted_names_exist(path: Path) -> None:
    for code in inline(path):
        if re.fullmatch(r"regard(\.\w+)+", code):
            resolve(code)


def resolve(dotted: str) -> Any:
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise AssertionError(dotted)


@each_document
def test_named_tests_exist(path: Path) -> None:
    for code in inline(path):
        match = re.fullmatch(r"(tests/[\w/]+\.py)(?:::(\w+))?", code)
        if match:
            file, name = ROOT / match[1], match[2]
            assert file.is_file(), code
            if name:
                pattern = rf"^\s*(def|class) {name}\b"
                assert re.search(pattern, read(file), re.MULTILINE), code
