"""Progress: what a person sees on standard error while a model trains."""

import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from regard.training.metrics import perplexity

#: Seconds between two lines where standard error is not a terminal.
LINE_INTERVAL = 10.0


@dataclass(frozen=True)
class Glance:
    """Where training is: loss and speed over the last updates, and how much is left.

    share: of the way to the nearest end, 0 to 1; seconds_left: until then. Both None when only
    the validation decides when training ends. validation: what the last one said.
    """

    step: int
    epoch: int
    loss: float
    perplexity: float
    tokens_per_second: float
    share: float | None
    seconds_left: float | None
    validation: str

    def __str__(self) -> str:
        left = "" if self.seconds_left is None else f", {clock(self.seconds_left)} left"
        validation = f", {self.validation}" if self.validation else ""
        return (
            f"step {self.step:,}, epoch {self.epoch}, loss {self.loss:.3f}, "
            f"perplexity {self.perplexity:,.2f}, {self.tokens_per_second:,.0f} tokens/s"
            f"{left}{validation}"
        )


class Recent:
    """Means over the last updates."""

    def __init__(self, updates: int = 50) -> None:
        self._updates: deque[tuple[int, float, float, float]] = deque(maxlen=updates)

    def add(self, tokens: int, loss: float, plain: float, seconds: float) -> None:
        """An update: its real target tokens, its mean losses, its seconds."""
        self._updates.append((tokens, loss * tokens, plain * tokens, seconds))

    @property
    def loss(self) -> float:
        return self._sum(1) / max(1, self._sum(0))

    @property
    def perplexity(self) -> float:
        return perplexity(self._sum(2) / max(1, self._sum(0)))

    @property
    def tokens_per_second(self) -> float:
        return self._sum(0) / max(1e-9, self._sum(3))

    @property
    def seconds_per_update(self) -> float:
        return self._sum(3) / max(1, len(self._updates))

    def _sum(self, column: int) -> float:
        return sum(update[column] for update in self._updates)


class Reporter(Protocol):
    """Who tells a person how training goes."""

    def message(self, text: str) -> None:
        """Something that stays on the screen."""

    def training(self, glance: Glance) -> None:
        """After every update."""

    def counting(self, what: str, done: int, total: int) -> None:
        """While things are done of which the number is known, such as `validating` sources."""

    def close(self) -> None:
        """Training is over, well or not."""


class Silence:
    """Tells nobody anything."""

    def message(self, text: str) -> None:
        pass

    def training(self, glance: Glance) -> None:
        pass

    def counting(self, what: str, done: int, total: int) -> None:
        pass

    def close(self) -> None:
        pass


class Lines:
    """Plain lines, every now and then: for a log file, or a screen that cannot be drawn on."""

    def __init__(self, stream: TextIO, interval: float = LINE_INTERVAL) -> None:
        self.stream = stream
        self.interval = interval
        self._last = time.monotonic()

    def message(self, text: str) -> None:
        self.stream.write(f"{text}\n")
        self.stream.flush()

    def training(self, glance: Glance) -> None:
        self.now_and_then(str(glance))

    def counting(self, what: str, done: int, total: int) -> None:
        self.now_and_then(f"{what}: {done:,} of {total:,}")

    def close(self) -> None:
        pass

    def now_and_then(self, text: str) -> None:
        """Say it, unless something was said a moment ago."""
        if time.monotonic() - self._last >= self.interval:
            self._last = time.monotonic()
            self.message(text)


class Live:
    """One line that is drawn anew, with a bar, below the messages."""

    def __init__(self, console: Console) -> None:
        self.progress = Progress(
            BarColumn(bar_width=20),
            TextColumn("{task.description}", markup=False),
            console=console,
            refresh_per_second=4,
            transient=True,
        )
        self.task = self.progress.add_task("starting", total=None)
        self.progress.start()

    def message(self, text: str) -> None:
        self.progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def training(self, glance: Glance) -> None:
        total = None if glance.share is None else 1.0
        self.progress.update(
            self.task, description=str(glance), total=total, completed=glance.share or 0.0
        )

    def counting(self, what: str, done: int, total: int) -> None:
        text = f"{what}: {done:,} of {total:,}"
        self.progress.update(self.task, description=text, total=total, completed=done)

    def close(self) -> None:
        self.progress.stop()


def make_reporter(progress: "bool | Reporter") -> Reporter:
    """The reporter itself; for True one that fits standard error; for False silence."""
    if not isinstance(progress, bool):
        return progress
    if not progress or sys.stderr is None:
        return Silence()
    console = Console(stderr=True)
    return Live(console) if console.is_terminal else Lines(sys.stderr)


def clock(seconds: float) -> str:
    """Seconds as 0:07, 12:34 or 1:02:03."""
    whole = round(max(0.0, seconds))
    minutes, hours = whole // 60 % 60, whole // 3600
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
