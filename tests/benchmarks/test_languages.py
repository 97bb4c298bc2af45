"""The command that trains one recipe over a folder of languages, and the words held out."""

import json
from pathlib import Path

import pytest

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


@pytest.mark.slow
def test_a_language_is_trained_once_and_measured(tmp_path: Path) -> None:
    words = [a + b + c for a in "ptk" for b in "aeiou" for c in "nsr"]
    parts = {"train": words, "dev": words[::5], "test": words[::4]}
    for part, chosen in parts.items():
        rows = "".join(f"{word}\t{' '.join(word)}\n" for word in chosen)
        (tmp_path / f"xx_{part}.tsv").write_text(rows, encoding="utf-8")
    given = [str(tmp_path), "--out", str(tmp_path / "runs"), "--set", "training.maximum_updates=60"]
    given += ["--set", "training.validation_interval=30", "--set", "training.warmup=10"]
    options = arguments(given)
    options.out.mkdir()
    outcome = measure("xx", options)
    assert outcome.updates == 60 and outcome.cpu_seconds > 0
    assert outcome.word_error_rate == pytest.approx(100 - outcome.exact_match)
    before = (options.out / "xx" / "metrics.jsonl").read_bytes()
    assert measure("xx", options) == outcome
    assert (options.out / "xx" / "metrics.jsonl").read_bytes() == before
    assert json.loads((options.out / "xx.json").read_text(encoding="utf-8"))["updates"] == 60
