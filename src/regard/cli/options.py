"""Options that several verbs share, said once."""

from pathlib import Path
from typing import Annotated

import typer

Run = Annotated[
    list[Path],
    typer.Option(
        "--model", metavar="RUN", help="The run directory of a model; several answer together."
    ),
]
Data = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="DATA",
        help="Pairs: FILE.tsv, FILE.jsonl, or the prefix of two line-aligned files (.gz too).",
    ),
]
SourceSide = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Which side is the source: a suffix, a TSV column from 1, or a JSONL key.",
    ),
]
TargetSide = Annotated[
    str | None,
    typer.Option("--target", metavar="NAME", help="Which side is the target, in the same way."),
]
Images = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Captions: the folder that the images' names are in."),
]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="SPLIT", help="Captions: one of their splits, or a file that lists images."
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Captions: where features of images are kept."),
]
Grids = Annotated[
    Path | None,
    typer.Option(
        metavar="FEATURES",
        help="Captions: ready-made features of the images, which then need not be there.",
    ),
]
SkipUnreadable = Annotated[
    bool,
    typer.Option(
        "--skip-unreadable",
        help="Captions: leave out images that are not there or cannot be read, and count them.",
    ),
]
Regions = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Captions: where their nouns are, to grade attention by."),
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="NAME",
        help="Where each source's features stand, such as V;PST: a suffix, a column or a key.",
    ),
]
FeaturesColumn = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="COLUMN",
        help="Lines are rows of a TSV, with each source's features in this column.",
    ),
]
SourceColumn = Annotated[
    str | None,
    typer.Option("--source", metavar="COLUMN", help="The source's column, with --features; 1."),
]
Beam = Annotated[
    int | None,
    typer.Option(min=1, metavar="K", help="Beam width; the model's own when not given."),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(
        min=-10,
        max=10,
        metavar="P",
        help="Rank by score / length**P; larger favors longer. The model's own when not given.",
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Steps of a Universal Transformer, with adaptive ones at most; its own if not given.",
    ),
]
Resamples = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Bootstrap resamples for the intervals; 0 = none."),
]
LinkTokens = Annotated[
    bool,
    typer.Option(
        "--tokens", help="Links are of the model's tokens (letters, phones) in place of words."
    ),
]
BatchSize = Annotated[int, typer.Option(min=1, metavar="N", help="Texts computed together.")]
Threads = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Processor threads; all that may be used by default."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
