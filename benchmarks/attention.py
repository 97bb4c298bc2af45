"""Speed and memory of attention: regard beside plain PyTorch, PyTorch's layer and Keras' layers.

    python benchmarks/attention.py

Prints one table; every ratio is of two figures taken in turn in this process. What is measured and
how: README.md here.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import attention_memory
import machine
from attention_cases import Sizes, cases
from attention_timing import Case, Measured, clock, measure
from peers import keras_layers
from peers.environments import InstallationError
from tables import table

HEAD = (
    "",
    "forward",
    "regard is",
    "forward + backward",
    "regard is",
    "kept for backward",
    "regard keeps",
    "differs by",
)
ROOM = 5  # how many of its large tensors must fit before the plain expression may try them


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 2 after one line that says what was wrong."""
    options = _parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    peer, keras = None, "not measured"
    try:
        if not options.without_keras:
            keras = keras_layers.load(options.peers.resolve())
            peer = keras_layers
    except InstallationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    rates = [machine.matrix_rate(options.threads)]
    sizes = Sizes()
    found = run(sizes, peer, options.rounds, clock(options.threads))
    memory = measure_memory(sizes)
    rates.append(machine.matrix_rate(options.threads))
    settings = {"threads": options.threads, "rounds": options.rounds, "keras": keras}
    print(as_table(found, sizes, memory), footer(settings, rates), sep="\n\n")
    if options.json:
        whole = as_json(found, sizes, memory, settings, rates)
        options.json.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add = parser.add_argument
    add("--threads", type=int, default=1, help="threads (default 1: measured in processor time)")
    add("--rounds", type=int, default=10, help="times that each is measured, in turn (default 10)")
    add("--without-keras", action="store_true", help="leave Keras' rows empty; install nothing")
    add("--peers", type=Path, default=Path(".peers"), help="where Keras is installed (.peers)")
    add("--json", type=Path, help="write everything measured to this file")
    return parser


def run(
    sizes: Sizes, peer: ModuleType | None, rounds: int, now: Callable[[], float]
) -> list[tuple[Case, list[Measured]]]:
    """Every case, measured."""
    found = []
    for case in cases(sizes, peer):
        print(case.title, file=sys.stderr, flush=True)
        found.append((case, measure(case, rounds, now)))
    return found


def measure_memory(sizes: Sizes) -> dict[str, int | None]:
    """Peak of one training step of additive attention, form by form; None = not measured."""
    shape = (*sizes.large, sizes.size)
    return {
        form: attention_memory.measure(form, *shape)
        if form == "regard" or _roomy(math.prod(shape))
        else None
        for form in attention_memory.FORMS
    }


def as_table(
    found: Sequence[tuple[Case, Sequence[Measured]]], sizes: Sizes, memory: dict[str, int | None]
) -> str:
    """A row for each contestant under the title of its case, and the peaks at the end."""
    rows: list[list[str]] = []
    for case, contestants in found:
        rows.append([case.title, *[""] * (len(HEAD) - 1)])
        first = contestants[0]
        rows += [_row(one, None if one is first else first) for one in contestants]
    batch, queries, positions = sizes.large
    title = f"peak of a training step, {batch} x {queries:,} x {positions:,}, size {sizes.size}"
    rows.append([title, *[""] * (len(HEAD) - 1)])
    names = {"regard": "regard", "plain": "plain PyTorch"}
    for form, peak in memory.items():
        cell = "-" if peak is None else f"{peak / 1e6:,.0f} MB"
        rows.append([f"- {names[form]}", *[""] * 4, cell, "", ""])
    return table(HEAD, rows)


def footer(settings: dict[str, Any], rates: Sequence[float]) -> str:
    """Lines under the table: on what, and how."""
    here, threads = machine.describe(), settings["threads"]
    how = "processor time of one thread" if threads == 1 else f"time with {threads} threads"
    told = ", ".join(f"{rate / 1e9:.0f}" for rate in rates)
    return "\n".join(
        [
            f"{how}, best of {settings['rounds']} rounds in turn; float32; Keras "
            f"{settings['keras']}",
            f"{here.processor}, {here.cores} cores, {here.system}, Python {here.python}, torch "
            f"{here.torch}",
            f"float32 matrix products of 2048^3, before and after: {told} GFLOP/s",
        ]
    )


def as_json(
    found: Sequence[tuple[Case, Sequence[Measured]]],
    sizes: Sizes,
    memory: dict[str, int | None],
    settings: dict[str, Any],
    rates: Sequence[float],
) -> dict[str, Any]:
    """Everything that was measured; seconds and bytes."""
    return {
        "settings": settings,
        "sizes": asdict(sizes),
        "machine": asdict(machine.describe()),
        "matrix_products_flops": list(rates),
        "cases": [
            {"title": case.title, "contestants": [asdict(one) for one in contestants]}
            for case, contestants in found
        ],
        "peak_memory": memory,
    }


def _row(one: Measured, first: Measured | None) -> list[str]:
    cells = [f"- {one.name}"]
    for field in ("forward", "training"):
        seconds = getattr(one, field)
        cells.append("-" if seconds is None else f"{seconds * 1e3:,.2f} ms")
        cells.append(_ratio(seconds, getattr(first, field, None), "{:.2f}x"))
    cells.append("-" if one.kept is None else f"{one.kept / 1e6:,.1f} MB")
    cells.append(_ratio(one.kept, getattr(first, "kept", None), "1/{:.1f}"))
    return [*cells, "" if one.difference is None else f"{one.difference:.1e}"]


def _ratio(theirs: float | None, ours: float | None, form: str) -> str:
    return "" if theirs is None or ours is None else form.format(theirs / ours)


def _roomy(elements: int) -> bool:
    """Whether the plain expression's large float32 tensors would fit into memory."""
    information = Path("/proc/meminfo")
    if not information.is_file():
        return False
    for line in information.read_text(encoding="ascii").split("\n"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024 > ROOM * 4 * elements
    return False


if __name__ == "__main__":
    sys.exit(main())
