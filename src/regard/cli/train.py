"""The train verb: pairs become a run directory."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import (
    Cache,
    Features,
    Grids,
    Images,
    SkipUnreadable,
    SourceSide,
    TargetSide,
)
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.cli.pictures import Given, Learned
    from regard.training.configuration import Configuration
    from regard.training.ending import TrainingResult

_DATA = (
    "pairs as FILE.tsv, FILE.jsonl, or the prefix of two line-aligned files (.gz too); or captions."
)


def train(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="A name, or a YAML file; see `regard recipes`.")
    ],
    train_data: Annotated[
        str, typer.Option("--train", metavar="DATA", help=f"What to learn: {_DATA}")
    ],
    out: Annotated[
        Path, typer.Option(metavar="RUN", help="The run directory to make; it must be new.")
    ],
    valid_data: Annotated[
        str | None, typer.Option("--valid", metavar="DATA", help=f"What chooses the model: {_DATA}")
    ] = None,
    source: SourceSide = None,
    target: TargetSide = None,
    features: Features = None,
    images: Images = None,
    train_split: Annotated[
        str | None,
        typer.Option(metavar="SPLIT", help="Captions: a split of --train, or a list of images."),
    ] = None,
    valid_split: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT", help="Captions: the same of --valid; or a share of --train, like 10%."
        ),
    ] = None,
    cache: Cache = None,
    grids: Grids = None,
    skip_unreadable: SkipUnreadable = False,
    alignments: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Links of the words of --train, in Pharaoh format, for attention to learn from.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting, as in training.learning_rate=0.001; may come several times.",
        ),
    ] = None,
    begin: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN", help="Begin with this run's weights and tokenizers."),
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
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write no RUN/report.html when training has ended.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing unless it fails.")] = False,
) -> None:
    """Train a model on pairs of texts, or captions, choosing it by how well it does on others.

    Ctrl-C saves and stops; the same command with --resume goes on to the same model.
    """
    from regard.cli.pictures import Given
    from regard.cli.signals import remembered_signals
    from regard.cli.streams import report, text_argument, write_lines
    from regard.cli.training_report import try_training_report
    from regard.training.continuation import checkpoint_to_resume
    from regard.training.interruption import TrainingInterrupted
    from regard.training.recipes import load_recipe
    from regard.training.train import train as train_model

    settings = [text_argument(each, "--set") for each in overrides or ()]
    settings += [f"training.seed={seed}"] if seed is not None else []
    settings += [f"training.threads={threads}"] if threads is not None else []
    configuration = load_recipe(recipe, settings)
    checkpoint_to_resume(out, resume)  # known before features are made of any image
    given = Given(images, cache, source, target, grids, skip_unreadable)
    data = ((train_data, train_split), (valid_data, valid_split))
    learned = _learned(configuration, data, given, features, alignments, quiet=quiet)
    with remembered_signals() as stop:
        try:
            result = train_model(
                configuration,
                learned.train,
                learned.valid,
                out,
                backbone=learned.backbone,
                begin=begin,
                minutes=minutes,
                resume=resume,
                progress=not quiet,
                stop=stop,
            )
        except TrainingInterrupted as interrupted:
            report(str(interrupted))
            raise typer.Exit(interrupted.exit_code) from interrupted
    if not (no_report or quiet):
        report("measuring the model for its report; Ctrl-C leaves that out")
    written = None if no_report else try_training_report(out, learned)
    if not quiet:
        told = _summary(result, learned, written)
        write_lines([*told, "", "Next:", *_next(learned, out, features, given)])


def _learned(
    configuration: "Configuration",
    data: tuple[tuple[str, str | None], tuple[str | None, str | None]],
    given: "Given",
    features: str | None,
    alignments: Path | None,
    *,
    quiet: bool,
) -> "Learned":
    """What is trained on and chosen by, each data with the split that was asked for.

    Raises UserError for options that the recipe cannot use.
    """
    from regard.cli.gold import read_gold
    from regard.cli.pictures import Learned, check_given, read_learned, refuse_with_images
    from regard.data.alignment import word_counts
    from regard.data.pairs import read_pairs

    (train_data, train_split), (valid_data, valid_split) = data
    if configuration.model.reads_pictures:
        refuse_with_images(features=features, alignments=alignments)
        return read_learned(configuration, *data, given, quiet=quiet)
    check_given(given, (train_split, valid_split))
    if valid_data is None:
        raise UserError("--valid is missing; give pairs to choose the model by")
    sides = (given.image, given.caption, features)
    pairs = read_pairs(train_data, *sides)
    if alignments is not None:
        words = word_counts((pair.source, pair.target) for pair in pairs)
        pairs = pairs.aligned(read_gold(alignments, pairs, words, "word"))
    return Learned(pairs, read_pairs(valid_data, *sides))


def _summary(result: "TrainingResult", learned: "Learned", report: Path | None) -> list[str]:
    """What came out. report: where it was written, if it was."""
    from regard.cli.table import table
    from regard.training.progress import clock

    trivial = "by copying or memorizing alone"
    if learned.train.have_pictures:
        trivial = "by the most frequent caption or memorizing alone"
    model = f"the best, after {result.best_step:,} updates"
    if result.averaged:
        model = f"the average of {len(result.averaged)}, after {_listed(result.averaged)} updates"
    rows = [
        [result.metric, f"{result.score:.2f}", "on the validation data, by free decoding"],
        ["baseline", f"{result.baseline:.2f}", trivial],
        ["model", model, ""],
        ["updates", f"{result.step:,}", f"ended by {result.reason}"],
        ["time", clock(result.elapsed_seconds), ""],
        *([] if report is None else [["report", str(report), ""]]),
    ]
    return ["", *table([[name, f"{value}  {note}".rstrip()] for name, value, note in rows])]


def _next(learned: "Learned", out: Path, features: str | None, given: "Given") -> list[str]:
    """What to do with it."""
    from shlex import quote

    place = quote(str(out))
    if learned.train.have_pictures:
        asked = "IMAGE"
        where = "" if given.images is None else f" --images {quote(str(given.images))}"
        if given.grids is not None:
            where = f" --grids {quote(str(given.grids))}"
            asked = f"{where.strip()} NAME"
        return [
            f"  regard caption --model {place} {asked}",
            f"  regard evaluate --model {place} --data CAPTIONS{where}",
            f"  regard info {place}",
        ]
    column = "" if features is None else f" --features {quote(features)}"
    tag = "" if features is None else ' --features "some features"'
    return [
        f"  regard translate --model {place}{column} FILE",
        f"  regard evaluate --model {place}{column} --data DATA",
        f'  regard show --model {place} "some text"{tag} --out attention.html',
        f"  regard info {place}",
    ]


def _listed(steps: Sequence[int]) -> str:
    return ", ".join(f"{step:,}" for step in steps)
