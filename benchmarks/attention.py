"""Speed and memory of attention: regard beside plain PyTorch, PyTorch's layer and Keras' layers.

    python benchmarks/attention.py

Prints one table; every ratio is of two figures taken in turn in this process. What is measured and
how: README.md here.
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

import attention_memory
import attention_report as report
import machine
from attention_cases import Sizes, cases
from attention_timing import clock, measure_all
from peers import keras_layers
from peers.environments import InstallationError

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
    found = measure_all(cases(sizes, peer), options.rounds, clock(options.threads))
    memory = measure_memory(sizes)
    rates.append(machine.matrix_rate(options.threads))
    settings = {"threads": options.threads, "rounds": options.rounds, "keras": keras}
    print(report.as_table(found, sizes, memory), report.footer(settings, rates), sep="\n\n")
    if options.json:
        whole = report.as_json(found, sizes, memory, settings, rates)
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


def measure_memory(sizes: Sizes) -> dict[str, int | None]:
    """Peak of one training step of additive attention, form by form; None = not measured."""
    shape = (*sizes.large, sizes.size)
    return {
        form: attention_memory.measure(form, *shape)
        if form == "regard" or _roomy(math.prod(shape))
        else None
        for form in attention_memory.FORMS
    }


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
