"""The command that trains one recipe over a folder of languages, and the words held out."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import languages as command
from hold_out import accepted, hold_out
from languages import Outcome, arguments, languages, measure, report


def test_words_are_held_out_with_all_their_rows() -> None:
    rows = [("a", "1"), ("b", "2"), ("a", "3"), ("c", "4"), ("d", "5"), ("c", "6")]
    train, held = hold_out(rows, stride=2, count=5)
    assert held == [("a", "1"), ("a", "3"), ("c", "4"), ("c", "6")]
    assert train == [("b", "2"), ("d", "5")]
    assert hold_out(rows, stride=2, count=1)[1] == [("a", "1"), ("a", "3")]


def test_each_accepted_pronunciation_has_its_row() -> None:
    assert accepted(["a\tx y\tz", "b\tx"]) == [("a", "x y"), ("a", "z"), ("b", "x")]


def test_languages_smallest_first_and_missing_ones_named(tmp_path: Path) -> None:
    for name, size in (("one", 30), ("two", 10), ("three", 20)):
        (tmp_path / f"{name}_train.tsv").write_text("x" * size, encoding="utf-8")
    assert languages(tmp_path, []) == ["two", "three", "one"]
    assert languages(tmp_path, ["one", "two"]) == ["two", "one"]
    with pytest.raises(SystemExit, match="four"):
        languages(tmp_path, ["four"])


def test_report_ends_with_the_mean() -> None:
    first = Outcome("aa", 10, 60.0, 30.0, 11.0, 10.0, 8.0, 12.0, 2.0, 90.0)
    second = Outcome("bb", 20, 120.0, 90.0, 21.0, 20.0, 18.0, 22.0, 4.0, 80.0)
    last = report([first, second]).split("\n")[-1]
    cells = [cell.strip() for cell in last.strip("|").split("|")]
    assert cells == ["mean", "", "<= 2.0", "<= 1.5", "16.00", "15.00", "", "3.00", "85.00"]


#: Stands in for regard: burns processor time, stops the first time and says so, then goes on.
STOPPED_ONCE = """
import sys, time
from pathlib import Path
out, going_on = Path(sys.argv[sys.argv.index("--out") + 1]), "--resume" in sys.argv
while time.process_time() < 0.2: pass
if out.exists() != going_on: sys.exit(2)
out.mkdir(exist_ok=True)
(out / "metrics.jsonl").write_text('{"step": 7}\\n{"step": 9}\\n')
sys.exit(0 if going_on else 130)
"""


@pytest.fixture
def stopped_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "REGARD", (sys.executable, "-c", STOPPED_ONCE))


@pytest.mark.usefixtures("stopped_once")
def test_a_stopped_training_goes_on_and_its_parts_are_added_up(tmp_path: Path) -> None:
    options, out = arguments([str(tmp_path), "--out", str(tmp_path)]), tmp_path / "xx"
    with pytest.raises(SystemExit, match="ended with 130"):
        command._train("xx", options, out)
    first = json.loads((tmp_path / "xx.part.json").read_text(encoding="utf-8"))
    assert first["cpu_seconds"] >= 0.2 and first["seconds"] >= 0.2
    whole = command._train("xx", options, out)
    assert whole["updates"] == 9
    for kind in ("cpu_seconds", "seconds"):
        assert whole[kind] >= first[kind] + 0.2
    assert not (tmp_path / "xx.part.json").exists()


@pytest.mark.usefixtures("stopped_once")
def test_a_training_that_took_nobody_knows_how_long_is_refused(tmp_path: Path) -> None:
    options, out = arguments([str(tmp_path), "--out", str(tmp_path)]), tmp_path / "xx"
    out.mkdir()
    with pytest.raises(SystemExit, match=r"xx: what its training took .* is not known.*delete"):
        measure("xx", options)
    out.rmdir()
    (tmp_path / "xx.part.json").write_text('{"seconds": 9, "cpu_seconds": 9}', encoding="utf-8")
    with pytest.raises(SystemExit, match="ended with 130"):
        measure("xx", options)
    part = json.loads((tmp_path / "xx.part.json").read_text(encoding="utf-8"))
    assert part["cpu_seconds"] < 9  # what was deleted does not count


def _small(folder: Path, updates: int) -> list[str]:
    """Arguments for a folder of one language of few words."""
    words = [a + b + c for a in "ptk" for b in "aeiou" for c in "nsr"]
    parts = {"train": words, "dev": words[::5], "test": words[::4]}
    for part, chosen in parts.items():
        rows = "".join(f"{word}\t{' '.join(word)}\n" for word in chosen)
        (folder / f"xx_{part}.tsv").write_text(rows, encoding="utf-8")
    given = [str(folder), "--out", str(folder / "runs")]
    given += ["--set", f"training.maximum_updates={updates}"]
    return [*given, "--set", "training.validation_interval=30", "--set", "training.warmup=10"]


@pytest.mark.slow
def test_ctrl_c_stops_a_language_and_it_goes_on(tmp_path: Path) -> None:
    """The signal goes to the command and to what it runs, as from a terminal."""
    given = _small(tmp_path, 300)
    process = subprocess.Popen([sys.executable, command.__file__, *given], start_new_session=True)
    runs, end = tmp_path / "runs", time.monotonic() + 300
    while not (runs / "xx" / "metrics.jsonl").exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(300) != 0
    assert not (runs / "xx.json").exists()
    first = json.loads((runs / "xx.part.json").read_text(encoding="utf-8"))
    outcome = measure("xx", arguments(given))
    assert outcome.updates == 300
    assert outcome.cpu_seconds > first["cpu_seconds"] > 0
    assert outcome.seconds > first["seconds"] > 0
    assert '"kind": "resume"' in (runs / "xx" / "metrics.jsonl").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_language_is_trained_once_and_measured(tmp_path: Path) -> None:
    options = arguments(_small(tmp_path, 60))
    options.out.mkdir()
    outcome = measure("xx", options)
    assert outcome.updates == 60 and outcome.cpu_seconds > 0
    assert outcome.word_error_rate == pytest.approx(100 - outcome.exact_match)
    before = (options.out / "xx" / "metrics.jsonl").read_bytes()
    assert measure("xx", options) == outcome
    assert (options.out / "xx" / "metrics.jsonl").read_bytes() == before
    assert json.loads((options.out / "xx.json").read_text(encoding="utf-8"))["updates"] == 60
