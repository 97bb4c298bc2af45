"""Whether `torch.compile` pays in training: the time of an update with it and without.

    python benchmarks/compilation.py --data PREFIX --source en --target de

The model's passes are compiled with lengths left open (`dynamic=True`); loss and optimizer are as
they are. One thread, float32, the same batches in turn: what the first round takes beyond the later
ones is the time of compiling.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Mapping, Sequence

import torch

import machine
from tables import table
from updates import Job, Trainer, add_training, measure_jobs


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 2 after one line that says what was wrong."""
    options = _parser().parse_args(arguments)
    return measure_jobs(options, lambda jobs: _measure(jobs, options))


def _measure(jobs: Mapping[str, Job], options: argparse.Namespace) -> None:
    rows = [[name, *_compare(job, options.rounds, options.batches)] for name, job in jobs.items()]
    print(table(("one update", "plain", "compiled", "faster by", "compiling"), rows), flush=True)
    here = machine.describe()
    print(f"\n{here.processor}, torch {here.torch}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Training with torch.compile and without.")
    add_training(parser, "transformer-tiny,luong-general")
    add = parser.add_argument
    add("--rounds", type=int, default=4, help="over all batches, after the first (default 4)")
    add("--batches", type=int, default=6, help="of different shapes (default 6)")
    return parser


def _compare(job: Job, rounds: int, batches: int) -> list[str]:
    plain, compiled = Trainer(job, rounded=False), Trainer(job, rounded=False)
    compiled.model.features = torch.compile(compiled.model.features, dynamic=True)  # type: ignore[method-assign]
    trainers = (plain, compiled)
    first = [_round(trainer, job, batches) for trainer in trainers]
    later: list[list[float]] = [[], []]
    for _ in range(rounds):
        for trainer, times in zip(trainers, later, strict=True):
            times.append(_round(trainer, job, batches))
    usual = [statistics.median(times) for times in later]
    updates = [f"{1000 * seconds / batches:,.0f} ms" for seconds in usual]
    return [*updates, f"{usual[0] / usual[1]:.2f}x", f"{first[1] - usual[1]:.0f} s"]


def _round(trainer: Trainer, job: Job, batches: int) -> float:
    began = time.perf_counter()
    for number in range(batches):
        trainer.update(job.batch(number))
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
