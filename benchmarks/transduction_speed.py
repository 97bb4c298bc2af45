"""Speed of regard at transduction beside yoyodyne (training) and g2p-en (decoding).

    python benchmarks/transduction_speed.py training --data ice_train.tsv --valid ice_dev.tsv
    python benchmarks/transduction_speed.py decoding --run RUN --words words.txt

Words per second of the processor, one thread each, side by side in one run. What is equal, what is
counted and how: README.md here.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import machine
import peers.yoyodyne
import transduction_report as report
from measurement import MeasurementError, measure
from options import numbers
from peers.environments import G2P_EN, YOYODYNE, ensure, ensure_beside
from regard.data.lines import read_lines
from regard.data.pairs import read_pairs
from regard.errors import UserError
from rounds import SUBJECT
from transduction_size import RECIPE, Size, batch_tokens, overrides
from workplace import clean_up_when_terminated, measure_in

_COUNTED = Path(__file__).parent / "peers" / "counted"
_MINUTES = 30  # a budget that no window reaches: the benchmark ends the run itself


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 2 after one line that says what was wrong."""
    options = _parser().parse_args(arguments)
    return measure_in("transduction-speed", lambda work: options.measure(options, work))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Words per second of the processor: training beside yoyodyne, decoding "
        "beside g2p-en."
    )
    parts = parser.add_subparsers(required=True, metavar="training|decoding")
    training = parts.add_parser("training", help="beside yoyodyne")
    add = training.add_argument
    add("--data", required=True, type=Path, help="training pairs: word<TAB>phones with spaces")
    add("--valid", required=True, type=Path, help="other pairs in the same form")
    add("--words", type=int, default=Size.words, help="words in a batch (default 32)")
    add("--dropout-by", default=Size.dropout_by, help="regard's model.embedding.dropout_by")
    add("--warm-up", type=float, default=15, help="seconds trained before the window (default 15)")
    add("--window", type=float, default=60, help="seconds measured (default 60)")
    _both(training, _training)
    decoding = parts.add_parser("decoding", help="beside g2p-en")
    add = decoding.add_argument
    add("--run", required=True, type=Path, help="a run of regard that pronounces words")
    add("--words", required=True, type=Path, help="a word a line; what follows a tab is ignored")
    add("--count", type=int, default=2000, help="how many of them, evenly spread (default 2000)")
    add(
        "--beams",
        type=numbers,
        default=(1, 5),
        help="regard's, the first for the ratio (default 1,5)",
    )
    add("--batch", type=int, default=256, help="words that regard decodes at once (default 256)")
    _both(decoding, _decoding)
    return parser


def _both(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace, Path], None]) -> None:
    add = parser.add_argument
    add("--rounds", type=int, default=3, help="times that every tool is run, in turn (default 3)")
    add("--peers", type=Path, default=Path(".peers"), help="where peers are installed (.peers)")
    add("--json", type=Path, help="write everything measured to this file")
    parser.set_defaults(measure=run)


def _training(options: argparse.Namespace, work: Path) -> None:
    size = Size(words=options.words, dropout_by=options.dropout_by)
    pairs = read_pairs(str(options.data), None, None)
    settings = overrides(size)
    settings.append(f"batching.tokens={batch_tokens(pairs, size, settings)}")
    python = ensure(YOYODYNE, options.peers.resolve(), version("torch").split("+")[0])
    measured: dict[str, list[report.Speed]] = {}
    versions: dict[str, dict[str, str]] = {}
    for number in range(options.rounds):
        for tool in (SUBJECT, YOYODYNE.name):
            directory = work / f"{tool}-{number + 1}"
            directory.mkdir()
            if tool == SUBJECT:
                command, record = _regard(options, settings, size.seed, directory)
            else:
                data = options.data.resolve()
                command, record = peers.yoyodyne.command(python, data, size, directory)
            log = directory / "log.txt"
            timing = (options.warm_up, options.window)
            try:
                figures, versions[tool] = measure(command, record, log, _environment(), *timing)
            except MeasurementError as error:
                raise MeasurementError(f"{tool}: {error}") from error
            if figures.rows_per_cpu_second is None:
                raise UserError("this system does not tell of processor time: use Linux")
            measured.setdefault(tool, []).append(report.of_training(figures))
            _say(number, options.rounds, tool, figures.rows_per_cpu_second)
    made = report.rows(measured, versions)
    told = f"{len(pairs):,} words; batches of {size.words}; {settings[-1]} for {SUBJECT}"
    _print(options, report.training_table(made), made, {**asdict(size), "settings": settings}, told)


def _regard(
    options: argparse.Namespace, settings: Sequence[str], seed: int, directory: Path
) -> tuple[list[str], Path]:
    record = directory / "record.jsonl"
    arguments = [
        *("train", RECIPE, "--train", str(options.data), "--valid", str(options.valid)),
        *("--out", str(directory / "run"), "--threads", "1", "--seed", str(seed)),
        *("--minutes", str(_MINUTES), "--no-report"),
    ]
    for setting in settings:
        arguments += ["--set", setting]
    return [sys.executable, str(_COUNTED / "train_regard.py"), str(record), *arguments], record


def _decoding(options: argparse.Namespace, work: Path) -> None:
    words = chosen_words(options.words, options.count)
    listed = work / "words.txt"
    listed.write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    home = ensure_beside(G2P_EN, options.peers.resolve())
    commands = {G2P_EN.name: [str(_COUNTED / "decode_g2p_en.py"), str(listed)]}
    for beam in options.beams:
        name = SUBJECT if beam == options.beams[0] else f"{SUBJECT}, beam {beam}"
        script = str(_COUNTED / "decode_regard.py")
        run = str(options.run.resolve())
        commands[name] = [script, str(listed), run, str(beam), str(options.batch)]
    measured: dict[str, list[report.Speed]] = {name: [] for name in commands}
    versions: dict[str, dict[str, str]] = {}
    for number in range(options.rounds):
        for name, command in commands.items():
            more = {"PYTHONPATH": str(home)} if name == G2P_EN.name else {}
            told = _answer([sys.executable, *command], {**_environment(), **more}, name)
            versions[name] = {key: str(told[key]) for key in ("version", "parameters")}
            measured[name].append(report.of_decoding(told))
            _say(number, options.rounds, name, measured[name][-1].words_per_cpu_second)
    made = report.rows(measured, versions)
    told_of = f"{len(words):,} words; {SUBJECT} decodes {options.batch} at once"
    settings = {"words": len(words), "batch": options.batch, "beams": options.beams}
    _print(options, report.decoding_table(made), made, settings, told_of)


def chosen_words(path: Path, count: int) -> list[str]:
    """`count` words of the file, evenly spread over it; all, where there are fewer."""
    words = [line.partition("\t")[0] for line in read_lines(path)]
    words = [word for word in words if word.strip()]
    if not words:
        raise UserError(f"{path} holds no words")
    count = min(count, len(words))
    return [words[place * len(words) // count] for place in range(count)]


def _answer(command: Sequence[str], environment: dict[str, str], name: str) -> dict:
    """The line of JSON that a command prints last."""
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=environment
    )
    lines = (done.stderr if done.returncode else done.stdout).strip().split("\n")
    if done.returncode:
        raise UserError(f"{name} ended (exit {done.returncode}): {lines[-1]}")
    return json.loads(lines[-1])


def _environment() -> dict[str, str]:
    """The caller's, without a virtual environment's marks, with one thread for everything."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return environment | {
        f"{library}_NUM_THREADS": "1" for library in ("OMP", "MKL", "OPENBLAS", "NUMEXPR")
    }


def _say(number: int, rounds: int, tool: str, speed: float) -> None:
    told = f"round {number + 1} of {rounds}: {tool}: {speed:,.0f} words per CPU second"
    print(told, file=sys.stderr, flush=True)


def _print(
    options: argparse.Namespace,
    table: str,
    made: Sequence[report.Row],
    settings: dict[str, object],
    told: str,
) -> None:
    here = machine.describe()
    torch = f"torch {here.torch}, Python {here.python}, {here.system}"
    print(
        table, f"{told}; one thread each\n{here.processor}, {here.cores} cores; {torch}", sep="\n\n"
    )
    if options.json:
        rows = [{**asdict(row), "ratio": row.ratio} for row in made]
        whole = {"settings": settings, "machine": asdict(here), "tools": rows}
        options.json.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    clean_up_when_terminated()
    sys.exit(main())
