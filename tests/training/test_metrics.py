"""metrics.jsonl."""

import math
from pathlib import Path

import pytest

from regard.errors import UserError
from regard.training.metrics import MetricsLog, perplexity, read_metrics


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / "metrics.jsonl")
    log.write("start", step=0, origin="\u2028é")
    log.write("training", step=50, loss=0.1 + 0.2)
    assert read_metrics(log.path) == [
        {"kind": "start", "step": 0, "origin": "\u2028é"},
        {"kind": "training", "step": 50, "loss": 0.1 + 0.2},
    ]


def test_cutting_back(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / "metrics.jsonl")
    assert log.position() == 0
    log.write("start", step=0)
    position = log.position()
    assert position == log.path.stat().st_size
    log.write("training", step=50)
    with open(log.path, "ab") as stream:
        stream.write(b'{"kind": "trai')  # killed amid a line
    assert [line["kind"] for line in read_metrics(log.path)] == ["start", "training"]
    log.cut_back(position)
    log.write("resume", step=0)
    assert [line["kind"] for line in read_metrics(log.path)] == ["start", "resume"]


def test_a_file_shorter_than_the_checkpoint_knows_is_damaged(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / "metrics.jsonl")
    log.write("start", step=0)
    with pytest.raises(UserError, match=r"metrics\.jsonl is damaged: it has 29 bytes"):
        log.cut_back(1000)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"kind": "start"}\n{"kind\n')
    with pytest.raises(UserError, match=r"metrics\.jsonl:2 is damaged"):
        read_metrics(path)
    path.write_bytes(b"3\n")
    with pytest.raises(UserError, match=r"metrics\.jsonl:1 is damaged: it should be an object"):
        read_metrics(path)


def test_a_number_that_is_not_one_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        MetricsLog(tmp_path / "metrics.jsonl").write("training", loss=math.nan)


def test_perplexity() -> None:
    assert perplexity(math.log(7)) == pytest.approx(7)
    assert math.isfinite(perplexity(1e6))
