"""What tests of captions share: scenes with pictures, and commands run in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import regard.cli
from regard.data.scenes import write_scenes


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of scenes with their pictures."""
    directory = tmp_path_factory.mktemp("captions") / "scenes"
    write_scenes(directory, pairs=60, seed=2)
    return directory


@pytest.fixture
def run(
    capfdbinary: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, list[str], str]]:
    """One command in this process: exit code, standard output in lines, standard error."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))

    def run(*arguments: object) -> tuple[int, list[str], str]:
        capfdbinary.readouterr()
        code = regard.cli.run([str(each) for each in arguments])
        said = capfdbinary.readouterr()
        return code, said.out.decode().splitlines(), said.err.decode()

    return run
