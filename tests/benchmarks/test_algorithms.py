"""The study of algorithms, at a size that takes seconds."""

import json
import math
from pathlib import Path

import pytest

import algorithms
from regard.training.recipes import load_recipe
from string_studies import Sizes, Strings, string_study
from strings import DIGITS, by_length, copying, strings_of_each_length
from widths import count_parameters

SMALL = ["--updates", "1", "--strings", "2", "--parameters", "13000", "--longest", "6"]
LENGTHS = ["--lengths", "3", "9"]


def run(out: Path, *more: str) -> int:
    return algorithms.main([*SMALL, *LENGTHS, "--out", str(out), *more])


def parameters(recipe: str, settings: tuple[str, ...]) -> int:
    symbols = copying(DIGITS).vocabulary
    return count_parameters(load_recipe(recipe, settings), symbols, symbols)


def test_several_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "--tasks", "copy", "addition") == 0
    printed = capsys.readouterr().out
    rows = json.loads((tmp_path / "algorithms.json").read_text(encoding="utf-8"))["rows"]
    assert {(row["part"], row["recipe"]) for row in rows} == {
        (task, recipe) for task in ("copy", "addition") for recipe in algorithms.RECIPES
    }
    for row in rows:
        assert row["updates"] == 1 and math.isclose(row["parameters"], 13_000, rel_tol=0.1)
        assert set(row["figures"]) == {"3", "9"}
        assert row["figures"]["9"]["sources"] == 2
        recurrent = row["recipe"] == "lstm-attention"
        assert row["offset"] == (0 if recurrent else 40)
        assert ("model.position_offset=40" in row["settings"]) != recurrent
    assert printed.count("| transformer-tiny") == 4  # two tables for each of two tasks
    assert (tmp_path / "algorithms.md").read_text(encoding="utf-8").strip() in printed
    picture = (tmp_path / "algorithms.svg").read_text(encoding="utf-8")
    assert picture.startswith("<?xml") and "addition" in picture


def test_pieces_come_together(tmp_path: Path) -> None:
    piece = ["--tasks", "copy", "--recipes", "universal-transformer"]
    assert run(tmp_path, *piece, "--position-offsets", "0", "5", "--seeds", "2") == 0
    table = (tmp_path / "algorithms.md").read_text(encoding="utf-8")
    assert table.count("| universal-transformer") == 4
    log = tmp_path / "copy/6/universal-transformer/5/2/metrics.jsonl"
    before = log.read_bytes()
    assert (
        run(tmp_path, *piece, "--position-offsets", "5", "--seeds", "2", "--lengths", "3", "12")
        == 0
    )
    assert log.read_bytes() == before  # not trained again
    table = (tmp_path / "algorithms.md").read_text(encoding="utf-8")
    assert " - |" in table and "12 |" in table  # not all were measured at 12


def test_what_differs_between_models_is_their_widths() -> None:
    task = copying(DIGITS)
    strings = Strings(
        task,
        longest=6,
        learned=strings_of_each_length(task, 6, 100, seed=1),
        valid=strings_of_each_length(task, 6, 10, seed=2),
        tests=by_length(task, (3,), 2, seed=3),
    )
    chosen = []
    for recipe in algorithms.RECIPES:
        job = string_study(recipe, strings, algorithms.SETTINGS, Sizes(66_000, 5, 2)).job
        assert parameters(recipe, job.settings) == pytest.approx(66_000, rel=0.015)
        chosen.append({setting for setting in job.settings if "size=" not in setting})
    assert chosen[0] == chosen[1] == chosen[2]


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "out", "--set", "model.encoder.no=1") == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1
