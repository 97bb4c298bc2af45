"""From what a tool writes while it trains to its speed: windows, processor time, memory."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_POLL = 0.25  # seconds
_PATIENCE = 240.0  # seconds that a tool may take until its first batch is trained
_END = 30.0  # seconds to end in, once asked
_SLACK, _DRIFT = 1.0, 0.02  # seconds and share by which a tool's clock may differ from ours


class MeasurementError(Exception):
    """A tool trained nothing that can be measured; one line."""


@dataclass(frozen=True)
class Moment:
    """Totals since training began; `positions` is None where a tool does not tell."""

    seconds: float
    step: int
    target_tokens: int
    real_positions: int | None = None
    positions: int | None = None
    rows: int | None = None


@dataclass(frozen=True)
class Figures:
    """One tool in one round.

    tokens_per_second: real target tokens, the end symbol included, per second of training.
    cpu_share: processor seconds per second; None where the system does not tell.
    padding: share of padding among all positions, source and target.
    memory: bytes, peak resident, all its processes.
    rows_per_second: pairs per second of training, None where a tool does not tell.
    """

    tokens_per_second: float
    steps: int
    seconds: float
    cpu_share: float | None
    padding: float | None
    memory: int | None
    rows_per_second: float | None = None

    @property
    def tokens_per_cpu_second(self) -> float | None:
        return self.tokens_per_second / self.cpu_share if self.cpu_share else None

    @property
    def rows_per_cpu_second(self) -> float | None:
        told = self.rows_per_second is not None and self.cpu_share
        return self.rows_per_second / self.cpu_share if told else None  # type: ignore[operator]


@dataclass
class Watched:
    """What was seen of a tool from outside.

    clock, cpu: seconds of the clock and of the processor at the same moments of the window.
    steps: the clock when each step was first seen in the record.
    """

    clock: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: int = 0
    steps: dict[int, float] = field(default_factory=dict)


def moments(lines: Sequence[str]) -> tuple[list[Moment], dict[str, str]]:
    """Read the record of a tool: a line a step, and the versions it states. Other lines pass."""
    found: list[Moment] = []
    versions: dict[str, str] = {}
    for line in lines:
        entry: dict[str, Any] = json.loads(line)
        if entry.get("kind") == "versions":
            versions |= {key: str(value) for key, value in entry.items() if key != "kind"}
        elif entry.get("kind") == "training":
            found.append(
                Moment(
                    entry["seconds"],
                    entry["step"],
                    entry["target_tokens"],
                    entry.get("real_positions"),
                    entry.get("positions"),
                    entry.get("rows"),
                )
            )
    return found, versions


def window(found: Sequence[Moment], warm_up: float, seconds: float) -> tuple[Moment, Moment]:
    """The first moment after the warm-up, and the last one at most `seconds` later.

    Both are ends of steps, so that no step counts in part. Raises MeasurementError.
    """
    inside = [moment for moment in found if moment.seconds >= warm_up]
    inside = [moment for moment in inside if moment.seconds <= inside[0].seconds + seconds]
    if len(inside) < 2:
        raise MeasurementError(
            f"{len(inside)} steps ended within {seconds:g} s after {warm_up:g} s of warm-up, "
            "2 are needed: give a longer --window"
        )
    return inside[0], inside[-1]


def check_clock(first: Moment, last: Moment, watched: Watched) -> None:
    """Raise MeasurementError when a tool's own clock leaves out time that passed in its window."""
    own = last.seconds - first.seconds
    passed = watched.steps[last.step] - watched.steps[first.step]
    if abs(passed - own) > _SLACK + _DRIFT * passed:
        raise MeasurementError(f"its record says {own:.1f} s where {passed:.1f} s passed")


def figures(first: Moment, last: Moment, watched: Watched) -> Figures:
    """The speed between two moments."""
    padding = None
    if None not in (first.positions, last.positions, first.real_positions, last.real_positions):
        positions = last.positions - first.positions  # type: ignore[operator]
        real = last.real_positions - first.real_positions  # type: ignore[operator]
        padding = 1 - real / positions
    cpu_share = None
    if len(watched.clock) > 1 and watched.cpu[-1] > watched.cpu[0]:
        elapsed = watched.clock[-1] - watched.clock[0]
        cpu_share = (watched.cpu[-1] - watched.cpu[0]) / elapsed
    seconds = last.seconds - first.seconds
    rows = None
    if first.rows is not None and last.rows is not None and last.rows > first.rows:
        rows = (last.rows - first.rows) / seconds
    return Figures(
        tokens_per_second=(last.target_tokens - first.target_tokens) / seconds,
        steps=last.step - first.step,
        seconds=seconds,
        cpu_share=cpu_share,
        padding=padding,
        memory=watched.memory or None,
        rows_per_second=rows,
    )


def measure(
    command: Sequence[str],
    record: Path,
    log: Path,
    environment: Mapping[str, str],
    warm_up: float,
    seconds: float,
    patience: float = _PATIENCE,
) -> tuple[Figures, dict[str, str]]:
    """Run a training command until its window is over, then end it; its figures and versions.

    patience: seconds that it may take for its first batch, and half as many for any other.
    Raises MeasurementError when it ends or falls silent before that.
    """
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            stdout=stream,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=dict(environment),
            start_new_session=True,
        )
        try:
            found, versions, watched = _follow(process, record, warm_up, seconds, patience)
        except MeasurementError as error:
            raise MeasurementError(f"{error}; the end of {log}: {_last_line(log)}") from error
        finally:
            _end(process)
    first, last = window(found, warm_up, seconds)
    check_clock(first, last, watched)
    return figures(first, last, watched), versions


def _follow(
    process: subprocess.Popen, record: Path, warm_up: float, seconds: float, patience: float
) -> tuple[list[Moment], dict[str, str], Watched]:
    found: list[Moment] = []
    versions: dict[str, str] = {}
    watched = Watched()
    heard = time.monotonic()
    while not found or found[-1].seconds < warm_up + seconds:
        if process.poll() is not None:
            raise MeasurementError(f"it ended (exit {process.returncode}) before its window did")
        silence = time.monotonic() - heard
        if silence > (patience / 2 if found else patience):
            raise MeasurementError(f"it trained nothing for {silence:.0f} s")
        time.sleep(_POLL)
        seen = len(found)
        found, versions = moments(_complete_lines(record))
        if len(found) > seen:
            heard = time.monotonic()
            watched.steps |= {moment.step: heard for moment in found[seen:]}
        usage = tree_usage(process.pid)
        if usage:
            watched.memory = max(watched.memory, usage[1])
            if found and found[-1].seconds >= warm_up:
                watched.clock.append(time.perf_counter())
                watched.cpu.append(usage[0])
    return found, versions, watched


def _complete_lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return path.read_bytes().decode("utf-8").split("\n")[:-1]


def tree_usage(pid: int) -> tuple[float, int] | None:
    """Processor seconds and peak resident bytes of a process and its children; None off Linux."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").split("\n")
        tasks = Path(f"/proc/{pid}/task").iterdir()
        children = [
            int(child)
            for task in tasks
            for child in (task / "children").read_text(encoding="utf-8").split()
        ]
    except (OSError, IndexError):
        return None
    cpu = sum(map(int, status[11:15])) / os.sysconf("SC_CLK_TCK")  # with ended children's
    memory = sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    for child in children:
        usage = tree_usage(child)
        if usage:
            cpu, memory = cpu + usage[0], memory + usage[1]
    return cpu, memory


def _end(process: subprocess.Popen) -> None:
    for ask in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, ask)
            try:
                process.wait(_END)
            except subprocess.TimeoutExpired:
                continue
    process.wait()


def _last_line(path: Path) -> str:
    lines = path.read_bytes().decode("utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "(empty)")
