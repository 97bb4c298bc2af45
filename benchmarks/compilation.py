"""Whether `torch.compile` pays in training: the time of an update with it and without.

    python benchmarks/compilation.py --data PREFIX --source en --target de

The model's passes are compiled with lengths left open, or with --fixed for every shape by itself;
loss and optimizer are as they are. One thread, float32, the same batches in turn: processor time of
the later rounds. What passes in the first round beyond the later ones is the time of compiling.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

import machine
from tables import table
from updates import Job, Trainer, add_training, measure_jobs


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 2 after one line that says what was wrong."""
    options = _parser().parse_args(arguments)
    return measure_jobs(options, lambda jobs: _measure(jobs, options))


def _measure(jobs: Mapping[str, Job], options: argparse.Namespace) -> None:
    rows = [[name, *_compare(job, options)] for name, job in jobs.items()]
    print(table(("one update", "plain", "compiled", "faster by", "compiling"), rows), flush=True)
    here = machine.describe()
    print(f"\n{here.processor}, torch {here.torch}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Training with torch.compile and without.")
    add_training(parser, "transformer-tiny,luong-general")
    add = parser.add_argument
    add("--rounds", type=int, default=4, help="over all batches, after the first (default 4)")
    add("--batches", type=int, default=6, help="of different shapes (default 6)")
    add("--fixed", action="store_true", help="compile every shape by itself: dynamic=False")
    return parser


def _compare(job: Job, options: argparse.Namespace) -> list[str]:
    plain, compiled = Trainer(job, rounded=False), Trainer(job, rounded=False)
    passes = torch.compile(compiled.model.features, dynamic=not options.fixed)
    compiled.model.features = passes  # type: ignore[method-assign]
    trainers = (plain, compiled)
    first = [_round(trainer, job, options.batches).passed for trainer in trainers]
    later: list[list[float]] = [[], []]
    for _ in range(options.rounds):
        for trainer, times in zip(trainers, later, strict=True):
            times.append(_round(trainer, job, options.batches).processor)
    usual = [statistics.median(times) for times in later]
    updates = [f"{1000 * seconds / options.batches:,.0f} ms" for seconds in usual]
    return [*updates, f"{usual[0] / usual[1]:.2f}x", f"{first[1] - first[0]:.0f} s"]


class _Seconds(NamedTuple):
    passed: float
    processor: float


def _round(trainer: Trainer, job: Job, batches: int) -> _Seconds:
    passed, processor = time.perf_counter(), time.process_time()
    for number in range(batches):
        trainer.update(job.batch(number))
    return _Seconds(time.perf_counter() - passed, time.process_time() - processor)


if __name__ == "__main__":
    sys.exit(main())
