"""The evaluate verb: translate the sources of pairs and measure against their targets."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import (
    AsJson,
    BatchSize,
    Beam,
    Cache,
    Data,
    Features,
    Grids,
    Images,
    LengthPenalty,
    LinkTokens,
    Regions,
    Resamples,
    Run,
    SkipUnreadable,
    SourceSide,
    Split,
    Steps,
    TargetSide,
    Threads,
)
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.data.pairs import Pairs


def evaluate(
    model: Run,
    data: Data,
    source: SourceSide = None,
    target: TargetSide = None,
    features: Features = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    steps: Steps = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what the model gave, a line for each pair."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="What the model was trained on: tells seen and unseen sources apart, and adds a "
            "baseline that memorizes and copies.",
        ),
    ] = None,
    confusions: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="List the N most frequent confusions of symbols."),
    ] = None,
    images: Images = None,
    split: Split = None,
    cache: Cache = None,
    grids: Grids = None,
    skip_unreadable: SkipUnreadable = False,
    regions: Regions = None,
    every_pair: Annotated[
        bool,
        typer.Option(
            "--every-pair",
            help="Count each pair on its own, as in running text: no accepted alternatives.",
        ),
    ] = False,
    alignments: Annotated[
        Path | None,
        typer.Option(
            metavar="GOLD", help="Measure word alignments as well, against these; see `align`."
        ),
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The alignments to measure, as `align` wrote them; attention's if not given.",
        ),
    ] = None,
    tokens: LinkTokens = False,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Measure how far to trust attention: whether it agrees with leaving words out.",
        ),
    ] = False,
    moses: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="Also BLEU of lower-cased text in Moses' tokens, as many papers have it; the "
            "language is that of the targets, like de.",
        ),
    ] = None,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
    batch_size: BatchSize = 64,
    threads: Threads = None,
) -> None:
    """Measure a model on pairs, all from raw text: BLEU, chrF, TER, error rates, exact match.

    A source that comes several times has several accepted targets. Figures are percentages. Of
    captions: BLEU-1 to -4, METEOR, ROUGE-L, CIDEr-D.
    """
    from regard.cli.alignment_figures import measure_alignments
    from regard.cli.caption_figures import measure_captions, write_captions
    from regard.cli.figures import measure
    from regard.cli.gold import linked
    from regard.cli.pictures import Given, check_given, refuse_with_images
    from regard.cli.reading import load_model, read_data
    from regard.cli.streams import write_lines
    from regard.cli.trust_figures import trust_texts
    from regard.cli.unseen import check_answered
    from regard.evaluation.moses import check_language

    if links is not None and alignments is None:
        raise UserError("--links are measured against true ones: give --alignments GOLD as well")
    unit = linked(tokens, alignments)
    if moses is not None:
        check_language(moses)
    loaded = load_model(model, threads, steps=steps)
    captions = Given(images, cache, source, target, grids, skip_unreadable)
    search: Any = {"beam": beam, "length_penalty": length_penalty, "batch_size": batch_size}
    if loaded.reads_pictures:
        refuse_with_images(
            features=features,
            confusions=confusions,
            every_pair=every_pair,
            alignments=alignments,
            moses=moses,
        )
        measured = measure_captions(
            loaded,
            data,
            split,
            captions,
            train=train,
            regions=regions,
            trust=trust,
            resamples=resamples,
            **search,
        )
        if output is not None:
            write_captions(output, measured)
        return write_lines(measured.json() if as_json else measured.tables())
    check_given(captions, (split,), regions)
    pairs = read_data(data, source, target, features)
    learned = None if train is None else read_data(train, source, target, features)
    aligned = None
    if alignments is not None:
        aligned = measure_alignments(
            loaded,
            pairs,
            alignments,
            links,
            unit=unit,
            batch_size=batch_size,
            resamples=resamples,
        )
    asked = pairs.questions()
    trusted = trust_texts(loaded, asked, resamples=resamples, **search) if trust else None
    answers = loaded.translate(
        asked.sources(), features=asked.features(), attention=False, **search
    )
    check_answered(answers, asked)
    texts = [answer.text for answer in answers]
    given = dict(zip(asked.identities(), texts, strict=True))
    if output is not None:
        _write_hypotheses(output, pairs, given)
    options: Any = {"every_pair": every_pair, "confusions": confusions, "moses": moses}
    figures = measure(loaded, given, pairs, learned, resamples=resamples, **options)
    figures = replace(figures, alignments=aligned, trust=trusted)
    write_lines(figures.json() if as_json else figures.tables())


def _write_hypotheses(path: Path, pairs: "Pairs", answers: dict[tuple[str, str], str]) -> None:
    from regard.cli.answers import one_line
    from regard.cli.streams import line_writer

    with line_writer(path) as write:
        write([one_line(answers[identity]) for identity in pairs.identities()])
