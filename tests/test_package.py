"""What is shipped: the wheel holds all of the package, and says what it needs and offers."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    program = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.iterdir()
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_wheel_holds_every_file_of_the_package(wheel):
    source = ROOT / "src"
    files = {
        path.relative_to(source).as_posix()
        for path in (source / "regard").rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.name.startswith(".")
    }
    held = set(wheel.namelist())
    assert files <= held
    assert {"regard/py.typed", "regard/recipes/rnnsearch.yaml"} <= held
    assert all(name.startswith(("regard/", "regard-")) for name in held)


def test_the_wheel_says_what_it_is(wheel):
    def read(end: str) -> str:
        (name,) = [name for name in wheel.namelist() if name.endswith(end)]
        return wheel.read(name).decode("utf-8")

    metadata = read(".dist-info/METADATA")
    assert "Requires-Python: >=3.10" in metadata
    assert "License-Expression: Apache-2.0" in metadata
    assert "regard = regard.cli:main" in read("entry_points.txt")


def test_what_is_pinned_is_all_that_is_needed():
    """Every requirement of pyproject.toml has its exact version in constraints.txt."""
    tomllib = pytest.importorskip("tomllib")  # Python 3.10 has none

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    needed = [*project["dependencies"], *(each for extra in extras for each in extra)]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n")
    pinned = {_name(line) for line in lines if "==" in line}
    assert {_name(requirement) for requirement in needed} <= pinned


def _name(requirement: str) -> str:
    name = requirement.split(">=")[0].split("==")[0].strip()
    return name.lower().replace("_", "-")
