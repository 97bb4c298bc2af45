"""The benchmark of torch.compile: a row for each recipe, from the passes that were compiled."""

from pathlib import Path

import pytest
import torch

import compilation


def test_a_row_with_what_was_compiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "pairs.tsv"
    rows = [f"{word} " * 3 + f"\t{word} {word}\n" for word in ("abc", "bcd", "cde", "def") * 20]
    data.write_text("".join(rows), encoding="utf-8")
    asked, calls = [], []

    def compiled(function, dynamic):  # type: ignore[no-untyped-def]
        asked.append(dynamic)
        return lambda *arguments: calls.append(1) or function(*arguments)

    monkeypatch.setattr(torch, "compile", compiled)
    options = ["--recipes", "luong-general", "--vocabulary", "20", "--tokens", "60"]
    assert compilation.main(["--data", str(data), *options, "--rounds", "2", "--batches", "3"]) == 0
    assert asked == [True] and len(calls) == 3 * (1 + 2)
    assert "luong-general" in capsys.readouterr().out
    assert compilation.main(["--data", str(data), *options, "--rounds", "1", "--fixed"]) == 0
    assert asked == [True, False]


def test_data_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compilation.main(["--data", str(tmp_path / "nowhere.tsv")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
