"""Lanes of workers: at the same time, one after the other, and what happens when one fails.

The workers here train nothing: they note when they begin and end.
"""

import sys
from pathlib import Path

import pytest

from regard.demo import side_by_side
from regard.demo.side_by_side import Job, train_side_by_side
from regard.errors import UserError

WORKER = """
import json, pathlib, sys, time
name, directory, seed, *settings = sys.argv[1:]
log = pathlib.Path(directory).parent / "log"
def note(what):
    with log.open("a") as file:
        file.write(f"{what} {name}\\n")
note("begin")
print(json.dumps({"kind": "progress", "text": "half", "share": 0.5}), flush=True)
print(json.dumps({"kind": "message", "text": f"seed {seed}"}), flush=True)
if "fail" in settings:
    print(json.dumps({"kind": "error", "text": "no luck"}), flush=True)
    sys.exit(2)
if "crash" in settings:
    sys.exit("it fell over")
end = time.monotonic() + 300
while settings[0] not in ("", *log.read_text().splitlines()) and time.monotonic() < end:
    time.sleep(0.02)
note("end")
"""


@pytest.fixture(autouse=True)
def quick_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def worker(job: Job, seed: int) -> list[str]:
        command = [sys.executable, "-S", "-c", WORKER, job.name, str(job.directory), str(seed)]
        return [*command, *job.settings]

    monkeypatch.setattr(side_by_side, "worker", worker)


def job(directory: Path, name: str, *settings: str) -> Job:
    return Job(name, directory / name, settings)


def log(directory: Path) -> list[str]:
    return (directory / "log").read_text(encoding="utf-8").splitlines()


def test_jobs_of_a_lane_follow_each_other_and_lanes_go_together(tmp_path: Path) -> None:
    lanes = [
        [job(tmp_path, "long", "end second")],  # it waits for that to be noted
        [job(tmp_path, "first", "begin long"), job(tmp_path, "second", "")],
    ]
    train_side_by_side(lanes, seed=7)
    noted = log(tmp_path)
    assert sorted(noted[:2]) == ["begin first", "begin long"]
    assert noted.index("end first") < noted.index("begin second") < noted.index("end second")
    assert noted[-1] == "end long" and len(noted) == 6


def test_what_a_worker_tells_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train_side_by_side([[job(tmp_path, "only", "")]], seed=7)
    assert "only: seed 7" in capsys.readouterr().err


@pytest.mark.parametrize(("how", "said"), [("fail", "no luck"), ("crash", "it fell over")])
def test_a_failure_ends_everything(tmp_path: Path, how: str, said: str) -> None:
    lanes = [
        [job(tmp_path, "long", "never")],
        [job(tmp_path, "bad", how), job(tmp_path, "later", "")],
    ]
    with pytest.raises(UserError, match=f"the bad could not be trained: {said}"):
        train_side_by_side(lanes, seed=7)
    noted = log(tmp_path)
    assert "begin bad" in noted and "begin later" not in noted and "end long" not in noted


def test_the_worker_is_the_one_of_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    command = side_by_side.worker(Job("captioner", Path("out") / "captioner", ("a=1",)), 3)
    directory = str(Path("out") / "captioner")
    assert command[1:] == ["-m", "regard.demo.worker", "captioner", directory, "3", "a=1"]
