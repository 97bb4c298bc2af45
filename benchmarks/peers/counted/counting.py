"""Count what a tool trains on. Runs inside the tool's environment: standard library only."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Sizes:
    """Of one batch: real target tokens (with the end symbol), positions real and in all, rows."""

    target_tokens: int
    real_positions: int
    positions: int
    rows: int = 0


def begin(path: Path, package: str) -> None:
    """Start the record at `path` with the versions in use."""
    line = {"kind": "versions", "version": version(package), "torch": version("torch")}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")


def tell(path: Path, **facts: object) -> None:
    """Add to what the record says beside the versions."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"kind": "versions", **facts}) + "\n")


class Counter:
    """Writes a line for each batch that was trained, with the totals so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.began: float | None = None
        self.totals = {"step": 0} | {field.name: 0 for field in fields(Sizes)}

    def start(self) -> None:
        """Start the clock, unless it runs: the first batch is ready."""
        if self.began is None:
            self.began = time.perf_counter()

    def add(self, sizes: Sizes) -> None:
        """A batch is trained."""
        assert self.began is not None
        self.totals["step"] += 1
        for name, count in vars(sizes).items():
            self.totals[name] += count
        seconds = time.perf_counter() - self.began
        line = {"kind": "training", "seconds": seconds, **self.totals}
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")


class CountedBatches:
    """Hands on another iterable's batches and counts each.

    The training loop asks for batch k+1 only when its step on batch k is over, so a batch counts
    at that moment.
    """

    def __init__(self, batches: Iterable[Any], sizes: Callable[[Any], Sizes], path: Path) -> None:
        self.batches = batches
        self.sizes = sizes
        self.counter = Counter(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.batches, name)

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches:
            self.counter.start()
            sizes = self.sizes(batch)
            yield batch
            self.counter.add(sizes)
