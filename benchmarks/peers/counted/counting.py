"""Count what a tool trains on. Runs inside the tool's environment: standard library only."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Sizes:
    """Of one batch: real target tokens (with the end symbol), and positions real and in all."""

    target_tokens: int
    real_positions: int
    positions: int


def begin(path: Path, package: str) -> None:
    """Start the record at `path` with the versions in use."""
    line = {"kind": "versions", "version": version(package), "torch": version("torch")}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")


class CountedBatches:
    """Hands on another iterable's batches and writes a line for each that was trained.

    The training loop asks for batch k+1 only when its step on batch k is over, so a batch counts
    at that moment. The clock starts when the first batch is ready.
    """

    def __init__(self, batches: Iterable[Any], sizes: Callable[[Any], Sizes], path: Path) -> None:
        self.batches = batches
        self.sizes = sizes
        self.path = path
        self.began: float | None = None
        self.totals = {"step": 0, "target_tokens": 0, "real_positions": 0, "positions": 0}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.batches, name)

    def __iter__(self) -> Iterator[Any]:
        with self.path.open("a", encoding="utf-8") as stream:
            for batch in self.batches:
                if self.began is None:
                    self.began = time.perf_counter()
                sizes = self.sizes(batch)
                yield batch
                self.totals["step"] += 1
                self.totals["target_tokens"] += sizes.target_tokens
                self.totals["real_positions"] += sizes.real_positions
                self.totals["positions"] += sizes.positions
                seconds = time.perf_counter() - self.began
                line = {"kind": "training", "seconds": seconds, **self.totals}
                stream.write(json.dumps(line) + "\n")
                stream.flush()
