"""The command that measures products of bfloat16, on very little."""

from pathlib import Path

import pytest

import matrix_products


def test_times_and_losses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"a{n % 3} b{n % 5} c\tx{n % 5} y{n % 3}" for n in range(40)]
    data = tmp_path / "pairs.tsv"
    data.write_text("\n".join(rows) + "\n", encoding="utf-8")
    small = ["--vocabulary", "25", "--tokens", "60", "--rounds", "1", "--updates", "3"]
    asked = ["--data", str(data), "--recipes", "transformer-tiny", *small]
    assert matrix_products.main(asked) == 0
    lines = capsys.readouterr().out.split("\n")
    times, losses = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("| transformer-tiny")
    )
    assert times[1].endswith(" ms") and times[2].endswith(" ms") and times[3].endswith("x")
    exact, rounded = float(losses[1]), float(losses[2])
    assert rounded == pytest.approx(exact, rel=0.01)


def test_what_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix_products.main(["--data", str(tmp_path / "nowhere.tsv")]) == 2
    assert "nowhere.tsv" in capsys.readouterr().err
