"""The train verb: pairs become a run directory."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import Features, SourceSide, TargetSide

if TYPE_CHECKING:
    from regard.training.ending import TrainingResult

_DATA = "pairs as FILE.tsv, FILE.jsonl, or the prefix of two line-aligned files (.gz too)."


def train(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="A name, or a YAML file; see `regard recipes`.")
    ],
    train_data: Annotated[
        str, typer.Option("--train", metavar="DATA", help=f"What to learn: {_DATA}")
    ],
    valid_data: Annotated[
        str, typer.Option("--valid", metavar="DATA", help=f"What chooses the model: {_DATA}")
    ],
    out: Annotated[
        Path, typer.Option(metavar="RUN", help="The run directory to make; it must be new.")
    ],
    source: SourceSide = None,
    target: TargetSide = None,
    features: Features = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting, as in training.learning_rate=0.001; may come several times.",
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Most wall time, validations included.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="S", help="Of everything random.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processor threads; all by default.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint in RUN.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing unless it fails.")] = False,
) -> None:
    """Train a model on pairs of texts, choosing it by how well it does on others.

    Ctrl-C saves and stops; the same command with --resume goes on to the same model.
    """
    from regard.cli.signals import remembered_signals
    from regard.cli.streams import report, text_argument, write_lines
    from regard.data.pairs import read_pairs
    from regard.training.interruption import TrainingInterrupted
    from regard.training.recipes import load_recipe
    from regard.training.train import train as train_model

    settings = [text_argument(each, "--set") for each in overrides or ()]
    settings += [f"training.seed={seed}"] if seed is not None else []
    settings += [f"training.threads={threads}"] if threads is not None else []
    configuration = load_recipe(recipe, settings)
    train_pairs = read_pairs(train_data, source, target, features)
    valid_pairs = read_pairs(valid_data, source, target, features)
    with remembered_signals() as stop:
        try:
            result = train_model(
                configuration,
                train_pairs,
                valid_pairs,
                out,
                minutes=minutes,
                resume=resume,
                progress=not quiet,
                stop=stop,
            )
        except TrainingInterrupted as interrupted:
            report(str(interrupted))
            raise typer.Exit(interrupted.exit_code) from interrupted
    if not quiet:
        write_lines(_summary(result, out, features))


def _summary(result: "TrainingResult", out: Path, features: str | None) -> list[str]:
    """What came out, and what to do with it."""
    from shlex import quote

    from regard.cli.table import table
    from regard.training.progress import clock

    place = quote(str(out))
    column = "" if features is None else f" --features {quote(features)}"
    tag = "" if features is None else ' --features "some features"'
    model = f"the best, after {result.best_step:,} updates"
    if result.averaged:
        model = f"the average of {len(result.averaged)}, after {_listed(result.averaged)} updates"
    rows = [
        [result.metric, f"{result.score:.2f}", "on the validation data, by free decoding"],
        ["baseline", f"{result.baseline:.2f}", "by copying or memorizing alone"],
        ["model", model, ""],
        ["updates", f"{result.step:,}", f"ended by {result.reason}"],
        ["time", clock(result.elapsed_seconds), ""],
    ]
    return [
        "",
        *table([[name, f"{value}  {note}".rstrip()] for name, value, note in rows]),
        "",
        "Next:",
        f"  regard translate --model {place}{column} FILE",
        f"  regard evaluate --model {place}{column} --data DATA",
        f'  regard show --model {place} "some text"{tag} --out attention.html',
        f"  regard info {place}",
    ]


def _listed(steps: Sequence[int]) -> str:
    return ", ".join(f"{step:,}" for step in steps)
