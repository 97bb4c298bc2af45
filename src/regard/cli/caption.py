"""The caption verb: a description of each image."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import AsJson, Beam, Grids, LengthPenalty, Run, Steps, Threads
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Caption, Model


def caption(
    images: Annotated[
        list[str],
        typer.Argument(metavar="IMAGE...", help="Files, folders of them, or patterns in quotes."),
    ],
    model: Run,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write here, once all is done; standard output if not."),
    ] = None,
    beam: Beam = None,
    nbest: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="The N best of each image, as image<TAB>score<TAB>caption."
        ),
    ] = None,
    as_json: AsJson = False,
    length_penalty: LengthPenalty = None,
    steps: Steps = None,
    batch_size: Annotated[
        int, typer.Option(min=1, metavar="N", help="Images computed together.")
    ] = 32,
    grids: Grids = None,
    threads: Threads = None,
) -> None:
    """Describe images: image and caption, with a tab between them.

    An image that cannot be read is named and has an empty caption; the others are answered.
    """
    from regard.cli.images import image_files
    from regard.cli.reading import counted, load_model
    from regard.cli.streams import line_writer

    files = image_files(images) if grids is None else [Path(name) for name in images]
    loaded = load_model(model, threads, steps=steps)
    options: Any = {"beam": beam, "nbest": nbest or 1, "length_penalty": length_penalty}
    options |= {"batch_size": batch_size, "attention": as_json}
    bad = 0
    with line_writer(output) as write:
        for answers in _answers(loaded, files, grids, options):
            write([line for each in answers for line in _lines(*each, as_json, nbest)])
            bad += _report([answer for _, answer in answers])
    if bad:
        raise UserError(f"{counted(bad, 'image')} could not be read; the others are captioned")


def _answers(
    model: "Model", files: list[Path], grids: Path | None, options: dict[str, Any]
) -> Iterator[list[tuple[Path, "Caption"]]]:
    """Image and caption, a batch at a time."""
    answer = model.caption if grids is None else _from_ready(model, files, grids)
    size = options["batch_size"]
    for start in range(0, len(files), size):
        some = files[start : start + size]
        yield list(zip(some, answer(some, **options), strict=True))


def _from_ready(model: "Model", files: list[Path], path: Path) -> "Callable[..., list[Caption]]":
    """Captions of images whose features are ready-made, some at a time."""
    from regard.cli.pictures import check_shape
    from regard.data.images.ready import ready_grids
    from regard.data.pictures import Picture
    from regard.evaluation.captioning import caption_pictures

    grids = ready_grids(path, [file.as_posix() for file in files])
    check_shape(model, grids, str(path))
    pictures = {file: Picture(grids, number) for number, file in enumerate(files)}

    def answer(
        some: list[Path], *, length_penalty: float | None, attention: bool, **options: Any
    ) -> "list[Caption]":
        search = model.search_configuration(length_penalty)
        options["need_attention"] = attention
        seen = [pictures[file] for file in some]
        return caption_pictures(model.network, model.tokenizers, seen, search, **options)

    return answer


def _report(answers: "list[Caption]") -> int:
    """Name the images that could not be read; how many they are."""
    from regard.cli.streams import report

    problems = [answer.problem for answer in answers if answer.problem is not None]
    for problem in problems:
        report(f"regard: {problem}")
    return len(problems)


def _lines(image: Path, answer: "Caption", as_json: bool, nbest: int | None) -> list[str]:
    from regard.cli.answers import json_line, one_line

    if as_json:
        return [json_line(caption_fields(image, answer))]
    name = one_line(str(image)).replace("\t", " ")
    if nbest is None:
        return [f"{name}\t{one_line(answer.text)}"]
    return [f"{name}\t{each.score:.6f}\t{one_line(each.text)}" for each in answer.nbest]


def caption_fields(image: Path, answer: "Caption") -> dict[str, Any]:
    """A caption under the names that files, Python and `show` share."""
    from regard.cli.answers import answer_fields

    maps = [[[round(weight, 6) for weight in row] for row in each] for each in answer.attention]
    fields = {"image": str(image), **answer_fields(answer), "attention": maps}
    return fields if answer.problem is None else fields | {"error": answer.problem}
