"""Two trainings at once, each in a process of its own, one bar each."""

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


def train_side_by_side(jobs: Sequence[Job], seed: int) -> None:
    """Train all jobs to their end. Raises UserError with what the first worker to fail said."""
    events: Queue[Event] = Queue()
    with _workers(jobs, seed, events), _screen(jobs) as screen:
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
def _workers(jobs: Sequence[Job], seed: int, events: Queue[Event]) -> Iterator[None]:
    """Start a process a job and a thread that listens to it; none outlives the block."""
    processes = []
    try:
        for job in jobs:
            command = [sys.executable, "-m", "regard.demo.worker", job.name, str(job.directory)]
            process = subprocess.Popen(
                [*command, str(seed), *job.settings], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            processes.append(process)
            listener = threading.Thread(target=_listen, args=(job, process, events), daemon=True)
            listener.start()
        yield
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def _listen(job: Job, process: subprocess.Popen[bytes], events: Queue[Event]) -> None:
    assert process.stdout is not None and process.stderr is not None
    told_error = False
    for line in process.stdout:
        told = json.loads(line)
        told_error = told_error or told["kind"] == "error"
        events.put(Event(job.name, told))
    noise = process.stderr.read().decode("utf-8", "replace").strip()
    if process.wait() and not told_error:
        last = noise.rsplit("\n", 1)[-1] or f"exit code {process.returncode}"
        events.put(Event(job.name, {"kind": "error", "text": last}))
    events.put(Event(job.name, {"kind": "end"}))


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
            job.name: self.progress.add_task("starting", total=1.0, name=job.name) for job in jobs
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
