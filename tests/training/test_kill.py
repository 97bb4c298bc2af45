"""SIGKILL at random moments, saves included: what is resumed becomes the very same model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .outcome import assert_same

TESTS = Path(__file__).parents[1]


def kill_and_compare(directory: Path, kind: str, seed: int, kills: int, updates: int) -> None:
    command = [sys.executable, "-m", "training.kill_driver", str(directory), kind]
    done = subprocess.run(
        [*command, str(seed), str(kills), str(updates)],
        cwd=TESTS,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=False,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["kills"] >= 1
    assert_same(directory / "whole", directory / "killed")
    assert not list((directory / "killed").rglob("*.partial"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_random_moments(tmp_path: Path) -> None:
    kill_and_compare(tmp_path, "transformer", seed=1, kills=4, updates=45)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
@pytest.mark.parametrize("seed", range(3))
def test_killed_many_times(kind: str, seed: int, tmp_path: Path) -> None:
    kill_and_compare(tmp_path, kind, seed=seed, kills=25, updates=200)
