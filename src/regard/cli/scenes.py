"""The scenes verb: write the data that regard brings itself."""

from pathlib import Path
from typing import Annotated

import typer


def scenes(
    out: Annotated[Path, typer.Option(help="The directory to write; it must not exist yet.")],
    pairs: Annotated[
        int,
        typer.Option(
            help="How many scenes: nine tenths train, a twentieth each is valid and test."
        ),
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed writes the same bytes.")] = 1,
    images: Annotated[
        bool, typer.Option(help="Draw the pictures too, with their captions and regions.")
    ] = True,
) -> None:
    """Write scenes: texts in three languages, pictures, captions, gold alignments, regions."""
    from regard.data.scenes.write import split_sizes, write_scenes

    write_scenes(out, pairs, seed, images=images)
    sizes = ", ".join(f"{size:,} {split}" for split, size in split_sizes(pairs).items())
    typer.echo(f"{out}: {pairs:,} scenes ({sizes})")
