"""The translate verb: line i answers line i."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import (
    AsJson,
    BatchSize,
    Beam,
    FeaturesColumn,
    LengthPenalty,
    Run,
    SourceColumn,
    Steps,
    Threads,
)
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Model
    from regard.cli.answers import Form
    from regard.cli.lines import InputLine
    from regard.cli.streams import Writer

#: The longest chunk, in batches: lines of one chunk are sorted by length before they are batched.
CHUNK = 16


def translate(
    model: Run,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Lines of text, .gz too; - is standard input.")
    ] = "-",
    features: FeaturesColumn = None,
    source: SourceColumn = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write here, once all is done; standard output if not."),
    ] = None,
    beam: Beam = None,
    nbest: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="The N best of each line, as number<TAB>score<TAB>text."
        ),
    ] = None,
    as_json: AsJson = False,
    length_penalty: LengthPenalty = None,
    steps: Steps = None,
    sample: Annotated[bool, typer.Option("--sample", help="Draw at random, no search.")] = False,
    temperature: Annotated[
        float | None, typer.Option(metavar="T", help="Of sampling: under 1 is bolder.")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(metavar="K", help="Sample from the K likeliest; 0 = all.")
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(metavar="P", help="Sample from the likeliest that hold P.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="S", help="Of sampling: the same seed repeats it.")
    ] = None,
    batch_size: BatchSize = 64,
    threads: Threads = None,
) -> None:
    """Translate lines of text: line i of the output answers line i of the input.

    A blank line stays blank.
    """
    from regard.cli.answers import as_json as json_form
    from regard.cli.answers import as_nbest, as_text
    from regard.cli.features import check_features
    from regard.cli.lines import chunks, is_typed
    from regard.cli.reading import counted, load_model
    from regard.cli.streams import line_writer, report

    sampling = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    options = _search(sample, sampling, beam, nbest, length_penalty)
    lines = _lines(file, source, features)
    loaded = load_model(model, threads, steps=steps, draws=sample)
    check_features(loaded, features is not None)
    form = json_form if as_json else as_nbest if nbest is not None else as_text
    longest = CHUNK * batch_size
    if is_typed(file):
        report("Type lines to translate; Ctrl-D ends.")
        longest = 1
    options |= {"batch_size": batch_size, "attention": as_json}
    with line_writer(output) as write:
        cut = chunks(lines, min(batch_size, longest), longest)
        bad = _answer(cut, loaded, options, form, write)
    if bad:
        raise UserError(
            f"{counted(bad, 'line')} of the input could not be answered and stayed blank; "
            f"the others are"
        )


def _lines(file: str, source: str | None, features: str | None) -> "Iterator[InputLine]":
    """The input's lines; with features, its rows."""
    from regard.cli.features import rows
    from regard.cli.lines import input_lines

    lines = input_lines(file)
    if features is not None:
        return rows(lines, source, features, "standard input" if file == "-" else file)
    if source is not None:
        raise UserError("--source is a column of rows, which are read with --features: give both")
    return lines


def _answer(
    lines: Iterable[list["InputLine"]],
    model: "Model",
    options: dict[str, Any],
    form: "Form",
    write: "Writer",
) -> int:
    """Answer chunk after chunk, in order; how many lines could not be answered."""
    from regard.cli.streams import report
    from regard.cli.unseen import UnseenSymbols

    bad, unseen = 0, UnseenSymbols()
    for chunk in lines:
        if options.get("sample"):
            options = {**options, "first": chunk[0].number}
        if chunk[0].features is not None:
            options = {**options, "features": [line.features for line in chunk]}
        answers = model.translate([line.text for line in chunk], **options)
        rows = [form(line, answer) for line, answer in zip(chunk, answers, strict=True)]
        write([row for each in rows for row in each])
        for line, answer in zip(chunk, answers, strict=True):
            problem = line.problem
            if answer.problem is not None:
                problem = f"line {line.number + 1}: {answer.problem}"
            if problem is not None:
                report(f"regard: {problem}")
                bad += 1
            unseen.tell(answer, f"line {line.number + 1}")
    unseen.close()
    return bad


def _search(
    sample: bool,
    sampling: dict[str, Any],
    beam: int | None,
    nbest: int | None,
    length_penalty: float | None,
) -> dict[str, Any]:
    """Arguments of `Model.translate`. Raises UserError for options that do not go together."""
    given = {name: value for name, value in sampling.items() if value is not None}
    if not sample:
        if given:
            name = next(iter(given)).replace("_", "-")
            raise UserError(f"--{name} is for sampling; give --sample as well")
        return {"beam": beam, "nbest": nbest or 1, "length_penalty": length_penalty}
    if beam is not None or nbest is not None:
        name = "beam" if beam is not None else "nbest"
        raise UserError(f"--{name} is for beam search; leave it or --sample out")
    return {"sample": True, "length_penalty": length_penalty, **given}
