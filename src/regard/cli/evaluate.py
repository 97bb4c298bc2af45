"""The evaluate verb: translate the sources of pairs and measure against their targets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import (
    AsJson,
    BatchSize,
    Beam,
    Data,
    Features,
    LengthPenalty,
    Run,
    SourceSide,
    TargetSide,
    Threads,
)
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.data.pairs import Pairs
    from regard.evaluation import Evaluation


def evaluate(
    model: Run,
    data: Data,
    source: SourceSide = None,
    target: TargetSide = None,
    features: Features = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what the model gave, a line for each pair."),
    ] = None,
    as_json: AsJson = False,
    batch_size: BatchSize = 64,
    threads: Threads = None,
) -> None:
    """Measure a model on pairs, all from raw text: BLEU, chrF, TER, error rates, exact match.

    A source that comes several times has several accepted targets. Figures are percentages.
    """
    from regard.cli.features import report_unseen
    from regard.cli.reading import load_model, read_data
    from regard.cli.streams import write_lines
    from regard.evaluation import evaluate_texts

    pairs = read_data(data, source, target, features)
    loaded = load_model(model, threads)
    asked, (sources, references) = pairs.questions(), pairs.references()
    answers = loaded.translate(
        sources,
        features=asked.features(),
        beam=beam,
        length_penalty=length_penalty,
        batch_size=batch_size,
        attention=False,
    )
    report_unseen(answers, set())
    bad = next((answer.problem for answer in answers if answer.problem is not None), None)
    if bad is not None:
        raise UserError(f"{data}: a source has {bad}; leave such sources out to measure the rest")
    hypotheses = [answer.text for answer in answers]
    if output is not None:
        keys = [(pair.source, pair.features) for pair in asked]
        _write_hypotheses(output, pairs, dict(zip(keys, hypotheses, strict=True)))
    symbols = _symbols(loaded.configuration.tokenization.target.kind)
    evaluation = evaluate_texts(hypotheses, references, symbols=symbols)
    write_lines(_json(evaluation) if as_json else _table(evaluation))


def _symbols(kind: str):  # type: ignore[no-untyped-def]
    """What `symbol_error_rate` counts: characters for a character model, else what spaces part."""
    from regard.evaluation import character_symbols, spaced_symbols

    return character_symbols if kind == "character" else spaced_symbols


def _write_hypotheses(path: Path, pairs: "Pairs", answers: dict[tuple[str, str], str]) -> None:
    from regard.cli.answers import one_line
    from regard.cli.streams import line_writer

    with line_writer(path) as write:
        write([one_line(answers[pair.source, pair.features]) for pair in pairs])


def _json(evaluation: "Evaluation") -> list[str]:
    from regard.cli.answers import json_line

    return [json_line(evaluation.as_dict())]


def _table(evaluation: "Evaluation") -> list[str]:
    from regard.cli.reading import counted
    from regard.cli.table import table

    rows = [
        [score.name, f"{score.value:.2f}", score.better, score.signature or ""]
        for score in evaluation.scores
    ]
    sizes = (
        f"{counted(evaluation.sources, 'source')}, "
        f"{counted(evaluation.references, 'accepted target')}"
    )
    return [*table(rows, header=["metric", "%", "better", "signature"], right=[1]), "", sizes]
