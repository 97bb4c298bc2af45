"""What tests of verbs share: commands run in this process, and scenes with pictures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import regard.cli
from regard.data.scenes import write_scenes

from .small_captioner import train


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of scenes with their pictures."""
    directory = tmp_path_factory.mktemp("captions") / "scenes"
    write_scenes(directory, pairs=60, seed=2)
    return directory


@pytest.fixture(scope="session")
def captioner(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that writes captions, none too good, trained by the command line."""
    out = tmp_path_factory.mktemp("captioner") / "run"
    cache = tmp_path_factory.mktemp("features")
    command = [str(each) for each in train(data, out, "--quiet", "--cache", cache)]
    assert regard.cli.run(command) == 0
    return out


@pytest.fixture
def run_text(capfdbinary: Any) -> Callable[..., tuple[int, str, str]]:
    """One command in this process: exit code, standard output, standard error."""

    def run_text(*arguments: object) -> tuple[int, str, str]:
        capfdbinary.readouterr()
        code = regard.cli.run([str(argument) for argument in arguments])
        out, said = capfdbinary.readouterr()
        return code, out.decode("utf-8"), said.decode("utf-8")

    return run_text


@pytest.fixture
def run(
    run_text: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, list[str], str]]:
    """The same with standard output in lines, and a cache of features of its own."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))

    def run(*arguments: object) -> tuple[int, list[str], str]:
        code, out, said = run_text(*arguments)
        return code, out.splitlines(), said

    return run
