"""Trainings at once and one after the other, each in a process of its own, one bar each."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from regard.errors import UserError
from regard.training.progress import LINE_INTERVAL, Lines


@dataclass(frozen=True)
class Job:
    """What a worker is to train, and where; ``settings`` come after the task's own."""

    name: str
    directory: Path
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Event:
    """What a worker told, or that it has ended."""

    name: str
    told: dict[str, Any]


def worker(job: Job, seed: int) -> list[str]:
    """The command that trains a job and tells how it goes."""
    command = [sys.executable, "-m", "regard.demo.worker", job.name, str(job.directory)]
    return [*command, str(seed), *job.settings]


def train_side_by_side(lanes: Sequence[Sequence[Job]], seed: int) -> None:
    """Train all jobs to their end: lanes at the same time, the jobs of a lane one after the other.

    Raises UserError with what the first worker to fail said.
    """
    events: Queue[Event] = Queue()
    jobs = [job for lane in lanes for job in lane]
    with _workers(lanes, seed, events), _screen(jobs) as screen:
        running = len(jobs)
        while running:
            event = events.get()
            told = event.told
            if told["kind"] == "error":
                raise UserError(f"the {event.name} could not be trained: {told['text']}")
            if told["kind"] == "end":
                running -= 1
            else:
                screen.show(event.name, told)


@contextmanager
def _workers(lanes: Sequence[Sequence[Job]], seed: int, events: Queue[Event]) -> Iterator[None]:
    """Start a thread a lane, which starts and listens to its workers; none outlives the block."""
    running = [_Lane(lane, seed, events) for lane in lanes]
    try:
        for lane in running:
            lane.start()
        yield
    finally:
        for lane in running:
            lane.close()


class _Lane(threading.Thread):
    """Workers one after the other, until one fails or the lane is closed."""

    def __init__(self, jobs: Sequence[Job], seed: int, events: Queue[Event]) -> None:
        super().__init__(daemon=True)
        self.jobs, self.seed, self.events = jobs, seed, events
        self.lock = threading.Lock()
        self.closed = False
        self.process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        for job in self.jobs:
            process = self._start_worker(job)
            if process is None or not _listen(job, process, self.events):
                break

    def _start_worker(self, job: Job) -> subprocess.Popen[bytes] | None:
        pipe = subprocess.PIPE
        with self.lock:
            if self.closed:
                return None
            self.process = subprocess.Popen(worker(job, self.seed), stdout=pipe, stderr=pipe)
            return self.process

    def close(self) -> None:
        """End the worker that runs, and start no other."""
        with self.lock:
            self.closed = True
        if self.process is not None:
            self.process.terminate()
            self.process.wait()


def _listen(job: Job, process: subprocess.Popen[bytes], events: Queue[Event]) -> bool:
    """Hand on what a worker tells; whether it ended well."""
    assert process.stdout is not None and process.stderr is not None
    told_error = False
    for line in process.stdout:
        told = json.loads(line)
        told_error = told_error or told["kind"] == "error"
        events.put(Event(job.name, told))
    noise = process.stderr.read().decode("utf-8", "replace").strip()
    failed = process.wait() != 0
    if failed and not told_error:
        last = noise.rsplit("\n", 1)[-1] or f"exit code {process.returncode}"
        events.put(Event(job.name, {"kind": "error", "text": last}))
    events.put(Event(job.name, {"kind": "end"}))
    return not failed


class _Bars:
    """A bar a job, for a terminal."""

    def __init__(self, jobs: Sequence[Job], console: Console) -> None:
        self.progress = Progress(
            TextColumn("{task.fields[name]:<11}"),
            BarColumn(bar_width=20),
            TextColumn("{task.description}", markup=False),
            console=console,
            refresh_per_second=4,
        )
        self.tasks = {
            job.name: self.progress.add_task("waiting", total=1.0, name=job.name) for job in jobs
        }
        self.progress.start()

    def show(self, name: str, told: dict[str, Any]) -> None:
        if told["kind"] == "message":
            text = f"{name}: {told['text']}"
            self.progress.console.print(text, markup=False, highlight=False, soft_wrap=True)
            return
        task = self.tasks[name]
        self.progress.update(task, description=told["text"])
        if told["share"] is not None:
            self.progress.update(task, completed=told["share"])

    def close(self) -> None:
        self.progress.stop()


class _Lines:
    """Lines of each job, every now and then, for anything else."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.lines = {job.name: Lines(sys.stderr, LINE_INTERVAL) for job in jobs}

    def show(self, name: str, told: dict[str, Any]) -> None:
        text = f"{name}: {told['text']}"
        if told["kind"] == "message":
            self.lines[name].message(text)
        else:
            self.lines[name].now_and_then(text)

    def close(self) -> None:
        pass


@contextmanager
def _screen(jobs: Sequence[Job]) -> Iterator[_Bars | _Lines]:
    console = Console(stderr=True)
    screen = _Bars(jobs, console) if console.is_terminal else _Lines(jobs)
    try:
        yield screen
    finally:
        screen.close()
