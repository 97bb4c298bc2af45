"""Training speed of regard's `transformer-tiny` beside JoeyNMT, OpenNMT-py and eole, in one run.

    python benchmarks/training_speed.py --data PREFIX --valid PREFIX --source en --target de

Real target tokens a second (the end symbol counts, padding does not) of the same model on the same
data, vocabulary, batch size and threads. What is equal, what is counted and how: README.md here.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import machine
import peers.eole
import peers.joeynmt
import peers.opennmt
import regard_training
import report
from corpus import Corpus, prepare
from measurement import Figures, MeasurementError, measure
from peers.environments import PEERS, ensure
from regard.errors import UserError
from rounds import SUBJECT
from workload import Workload
from workplace import clean_up_when_terminated, measure_in

TOOLS = ("regard", "joeynmt", "opennmt", "eole")
_ROUNDED = f"{SUBJECT}-bfloat16"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 2 after one line that says what was wrong."""
    options = _parser().parse_args(arguments)
    return measure_in("training-speed", lambda work: _run(options, work))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Training speed of regard, JoeyNMT, OpenNMT-py and eole, measured in one run."
    )
    add = parser.add_argument
    add("--data", required=True, help="training pairs: FILE.tsv, FILE.jsonl or a prefix (.gz too)")
    add("--valid", required=True, help="validation pairs in the same form")
    add("--source", required=True, help="suffix, column or key of the source side")
    add("--target", required=True, help="suffix, column or key of the target side")
    add("--threads", type=int, default=2, help="threads of every tool (default 2)")
    add("--rounds", type=int, default=2, help="times that every tool is run, in turn (default 2)")
    add("--warm-up", type=float, default=20, help="seconds trained before the window (default 20)")
    add("--window", type=float, default=75, help="seconds measured (default 75)")
    add(
        "--patience",
        type=float,
        default=240,
        help="seconds that a tool may take for its first batch (default 240)",
    )
    add(
        "--tools",
        default=",".join(TOOLS),
        help=f"which, in turn; {_ROUNDED} is regard with training.matrix_products bfloat16 "
        f"(default {','.join(TOOLS)})",
    )
    add("--peers", type=Path, default=Path(".peers"), help="where peers are installed (.peers)")
    add("--torch", default=version("torch").split("+")[0], help="the peers' torch (default: ours)")
    add(
        "--environment",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an environment variable for every tool, e.g. MALLOC_TRIM_THRESHOLD_=...",
    )
    add("--json", type=Path, help="write everything measured to this file")
    return parser


def _run(options: argparse.Namespace, work: Path) -> None:
    tools = options.tools.split(",")
    for tool in tools:
        if tool not in (*TOOLS, _ROUNDED):
            raise UserError(f"--tools: {tool} is not one of {', '.join((*TOOLS, _ROUNDED))}")
    pythons = {
        tool: ensure(PEERS[tool], options.peers.resolve(), options.torch)
        for tool in tools
        if tool in PEERS
    }
    workload = Workload()
    data = (options.data, options.valid, options.source, options.target)
    corpus = prepare(*data, workload, work / "corpus")
    environment = _environment(options)
    measured: dict[str, list[Figures]] = {tool: [] for tool in tools}
    versions: dict[str, dict[str, str]] = {}
    rates = [_rate(options.threads)]
    for number in range(options.rounds):
        for tool in tools:
            directory = work / f"{tool}-{number + 1}"
            directory.mkdir()
            command, record = _command(
                tool, pythons.get(tool), data, corpus, workload, directory, options.threads
            )
            _say(f"round {number + 1} of {options.rounds}: {tool}")
            try:
                figures, found = measure(
                    command,
                    record,
                    directory / "log.txt",
                    environment,
                    options.warm_up,
                    options.window,
                    options.patience,
                )
                if tool not in pythons:
                    regard_training.check(directory, corpus)
            except MeasurementError as error:
                raise MeasurementError(f"{tool}: {error}") from error
            measured[tool].append(figures)
            versions[tool] = found
            _say(f"  {figures.tokens_per_second:,.0f} real tokens/s over {figures.steps} steps")
        rates.append(_rate(options.threads))
    _print(options, workload, corpus, measured, versions, rates)


def _rate(threads: int) -> report.Rate:
    """Of matrix products, now."""
    return report.Rate(machine.matrix_rate(threads), machine.processor_rate())


def _command(
    tool: str,
    python: Path | None,
    data: tuple[str, str, str, str],
    corpus: Corpus,
    workload: Workload,
    directory: Path,
    threads: int,
) -> tuple[list[str], Path]:
    if python is None:
        products = "bfloat16" if tool == _ROUNDED else "float32"
        return regard_training.command(data, workload, directory, threads, products)
    module = {"joeynmt": peers.joeynmt, "opennmt": peers.opennmt, "eole": peers.eole}[tool]
    return module.command(python, corpus, workload, directory, threads)


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """The caller's, without a virtual environment's marks, with the threads and what was asked."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["OMP_NUM_THREADS"] = environment["MKL_NUM_THREADS"] = str(options.threads)
    for setting in options.environment:
        key, _, value = setting.partition("=")
        if not key or not value:
            raise UserError(f"--environment: {setting} should be KEY=VALUE")
        environment[key] = value
    return environment


def _print(
    options: argparse.Namespace,
    workload: Workload,
    corpus: Corpus,
    measured: dict[str, list[Figures]],
    versions: dict[str, dict[str, str]],
    rates: list[report.Rate],
) -> None:
    made, here = report.rows(measured, versions, rates), machine.describe()
    settings = {
        "threads": options.threads,
        "rounds": options.rounds,
        "warm_up_seconds": options.warm_up,
        "window_seconds": options.window,
        "environment": options.environment,
        "pairs": corpus.pairs,
        "target_tokens": corpus.target_tokens,
        **asdict(workload),
    }
    print(report.table(made), report.footer(made, here, rates, settings), sep="\n\n")
    if options.json:
        whole = report.as_json(made, measured, here, rates, settings)
        options.json.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    clean_up_when_terminated()
    sys.exit(main())
