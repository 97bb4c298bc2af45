"""Counting a tool's batches, and what is made of its record."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from counting import CountedBatches, Sizes

from measurement import (
    Figures,
    MeasurementError,
    Moment,
    Watched,
    check_clock,
    figures,
    measure,
    moments,
    window,
)


def _line(seconds: float, step: int, tokens: int, **more: int) -> str:
    entry = {"kind": "training", "seconds": seconds, "step": step, "target_tokens": tokens}
    return json.dumps({**entry, **more})


def test_record_lines_of_other_kinds_pass() -> None:
    lines = [
        '{"kind": "versions", "version": "2.3.0", "torch": "2.13.0"}',
        _line(1.5, 1, 100, real_positions=150, positions=200),
        '{"kind": "validation", "bleu": 3.0}',
        _line(3.0, 2, 250),
    ]
    found, versions = moments(lines)
    assert found == [Moment(1.5, 1, 100, 150, 200), Moment(3.0, 2, 250)]
    assert versions == {"version": "2.3.0", "torch": "2.13.0"}


def test_window_holds_whole_steps_only() -> None:
    found = [Moment(float(second), second, 10 * second) for second in range(1, 40, 3)]
    first, last = window(found, warm_up=5.0, seconds=10.0)
    assert (first.seconds, last.seconds) == (7.0, 16.0)


def test_window_with_one_step_is_refused() -> None:
    with pytest.raises(MeasurementError, match="longer --window"):
        window([Moment(1.0, 1, 10), Moment(30.0, 2, 20)], warm_up=5.0, seconds=10.0)
    with pytest.raises(MeasurementError, match="0 steps"):
        window([Moment(1.0, 1, 10)], warm_up=5.0, seconds=10.0)


def test_figures_are_differences() -> None:
    first, last = Moment(10.0, 4, 1000, 1500, 2000), Moment(20.0, 9, 6000, 9000, 12000)
    watched = Watched(clock=[100.0, 104.0, 108.0], cpu=[50.0, 57.0, 64.0], memory=7)
    got = figures(first, last, watched)
    assert got.tokens_per_second == 500
    assert (got.steps, got.seconds) == (5, 10)
    assert got.padding == pytest.approx(0.25)
    assert got.cpu_share == pytest.approx(1.75)
    assert got.tokens_per_cpu_second == pytest.approx(500 / 1.75)
    assert got.memory == 7


def test_a_clock_that_leaves_time_out_is_refused() -> None:
    first, last = Moment(10.0, 4, 1000), Moment(50.0, 9, 6000)
    check_clock(first, last, Watched(steps={4: 500.0, 9: 540.5}))
    with pytest.raises(MeasurementError, match=r"says 40\.0 s where 50\.0 s passed"):
        check_clock(first, last, Watched(steps={4: 500.0, 9: 550.0}))


def test_figures_leave_out_what_nobody_told() -> None:
    got = figures(Moment(0.0, 0, 0), Moment(2.0, 1, 10), Watched())
    assert (got.padding, got.cpu_share, got.tokens_per_cpu_second, got.memory) == (None,) * 4


def test_batches_count_once_they_are_trained(tmp_path: Path) -> None:
    class Loader(list):
        batch_sampler = "the tool's own"

    record = tmp_path / "record.jsonl"
    counted = CountedBatches(Loader([3, 5]), lambda size: Sizes(size, 2 * size, 4 * size), record)
    assert counted.batch_sampler == "the tool's own"
    loop = iter(counted)
    next(loop)
    assert not record.exists()  # handed out, not yet trained
    next(loop)
    found, _ = moments(record.read_text(encoding="utf-8").split("\n")[:-1])
    assert [(m.step, m.target_tokens) for m in found] == [(1, 3)]
    assert list(loop) == []
    assert list(counted) == [3, 5]  # a second epoch counts on, by the same clock
    found, _ = moments(record.read_text(encoding="utf-8").split("\n")[:-1])
    totals = [(m.step, m.target_tokens, m.real_positions, m.positions) for m in found]
    assert totals == [(1, 3, 6, 12), (2, 8, 16, 32), (3, 11, 22, 44), (4, 16, 32, 64)]
    assert [m.seconds for m in found] == sorted(m.seconds for m in found)


_TRAINER = """
import json, sys, time
began = time.perf_counter()
with open(sys.argv[1], "a") as stream:
    stream.write('{"kind": "versions", "version": "9"}\\n')
    for step in range(1, 10_000):
        time.sleep(0.02)
        line = {"kind": "training", "seconds": time.perf_counter() - began, "step": step}
        stream.write(json.dumps({**line, "target_tokens": 100 * step}) + "\\n")
        stream.flush()
"""


def _measure(tmp_path: Path, program: str) -> tuple[Figures, dict[str, str]]:
    record = tmp_path / "record.jsonl"
    command = [sys.executable, "-c", program, str(record)]
    return measure(command, record, tmp_path / "log.txt", os.environ, warm_up=0.3, seconds=0.8)


def test_a_tool_is_measured_and_ended(tmp_path: Path) -> None:
    got, versions = _measure(tmp_path, _TRAINER)
    assert versions == {"version": "9"}
    assert got.tokens_per_second == pytest.approx(100 * got.steps / got.seconds)
    assert 0 < got.seconds <= 0.8
    size = (tmp_path / "record.jsonl").stat().st_size
    time.sleep(0.2)
    assert (tmp_path / "record.jsonl").stat().st_size == size  # nobody writes any more


def test_a_tool_that_dies_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"exit 1\).*ValueError: no such data"):
        _measure(tmp_path, "raise ValueError('no such data')")


def test_an_interrupted_measurement_ends_its_tool(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    benchmark = f"""
import sys, os, workplace, measurement
from pathlib import Path
workplace.clean_up_when_terminated()
command = [sys.executable, "-c", {_TRAINER!r}, {str(record)!r}]
measurement.measure(command, Path({str(record)!r}), Path(os.devnull), os.environ, 0.1, 600.0)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", benchmark], env=environment)
    deadline = time.monotonic() + 60
    while not record.is_file() or record.stat().st_size < 500:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.terminate()
    assert process.wait(60) == 143
    size = record.stat().st_size
    time.sleep(0.3)
    assert record.stat().st_size == size
