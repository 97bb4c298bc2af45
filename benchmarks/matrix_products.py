"""What `training.matrix_products=bfloat16` does to the time of an update, and to the loss.

    python benchmarks/matrix_products.py --data PREFIX --source en --target de

First table: processor time of one update on one thread, float32 and bfloat16 in turn on the same
batch, the median of some. Second, with `--updates N`: the mean loss of the last fifty of N updates
from the same first weights on the same batches.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Mapping, Sequence

import machine
from tables import table
from updates import Job, Trainer, add_training, measure_jobs

KINDS = ("float32", "bfloat16")
_LAST = 50  # updates whose mean loss is told


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 2 after one line that says what was wrong."""
    options = _parser().parse_args(arguments)
    return measure_jobs(options, lambda jobs: _measure(jobs, options))


def _measure(jobs: Mapping[str, Job], options: argparse.Namespace) -> None:
    times = [[name, *_times(job, options.rounds)] for name, job in jobs.items()]
    print(table(("one update", *KINDS, "faster by"), times), flush=True)
    if options.updates:
        losses = [[name, *_losses(job, options.updates)] for name, job in jobs.items()]
        print("", table((f"loss after {options.updates} updates", *KINDS), losses), sep="\n")
    here = machine.describe()
    rate = machine.processor_rate() / 1e9
    print(f"\n{here.processor}, torch {here.torch}; float32 products of 2048^3: {rate:.0f} GFLOP/s")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Products of bfloat16 in training: time and loss.")
    add_training(parser, "transformer-tiny,transformer-small")
    add = parser.add_argument
    add("--rounds", type=int, default=7, help="updates of each kind that are timed (default 7)")
    add("--updates", type=int, default=0, help="for the second table (default none)")
    return parser


def _times(job: Job, rounds: int) -> list[str]:
    trainers = [Trainer(job, kind == "bfloat16") for kind in KINDS]
    taken: list[list[float]] = [[] for _ in KINDS]
    for number in range(rounds + 1):
        for trainer, times in zip(trainers, taken, strict=True):
            began = time.thread_time()
            trainer.update(job.batch(0))
            if number:  # the first one of each warms up
                times.append(time.thread_time() - began)
    exact, rounded = (statistics.median(times) for times in taken)
    return [f"{1000 * exact:,.0f} ms", f"{1000 * rounded:,.0f} ms", f"{exact / rounded:.2f}x"]


def _losses(job: Job, updates: int) -> list[str]:
    told = []
    for kind in KINDS:
        trainer = Trainer(job, kind == "bfloat16")
        losses = [trainer.update(job.batch(number)) for number in range(updates)]
        told.append(f"{statistics.mean(losses[-_LAST:]):.4f}")
    return told


if __name__ == "__main__":
    sys.exit(main())
