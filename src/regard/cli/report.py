"""The report verb: everything about a model on one page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import (
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


def report(
    model: Run,
    data: Data,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to: a page, which needs nothing else.")
    ] = Path("report.html"),
    source: SourceSide = None,
    target: TargetSide = None,
    features: Features = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    steps: Steps = None,
    images: Images = None,
    split: Split = None,
    cache: Cache = None,
    grids: Grids = None,
    skip_unreadable: SkipUnreadable = False,
    regions: Regions = None,
    alignments: Annotated[
        Path | None,
        typer.Option(metavar="GOLD", help="True word alignments, to grade attention by."),
    ] = None,
    tokens: LinkTokens = False,
    resamples: Resamples = 1000,
    batch_size: BatchSize = 64,
    threads: Threads = None,
) -> None:
    """Write everything about a model on one page: scores, curves, examples, attention, trust.

    The scores are those of `evaluate` on the same data.
    """
    from regard.cli.caption_findings import caption_findings
    from regard.cli.findings import Measuring, text_findings
    from regard.cli.gold import linked
    from regard.cli.pictures import Given, check_given, read_asked, refuse_with_images
    from regard.cli.reading import counted, load_model, read_data
    from regard.cli.streams import report as tell
    from regard.cli.trust_figures import LOOKED_AT
    from regard.files import require_directory
    from regard.report import model_report
    from regard.views import write_report

    unit = linked(tokens, alignments)
    if out.suffix.lower() not in (".html", ".htm"):
        raise UserError(f"{out}: the report is a page; give a name that ends in .html")
    require_directory(out.resolve().parent, "the directory of the report")
    loaded = load_model(model, threads, steps=steps)
    given = Given(images, cache, source, target, grids, skip_unreadable)
    search: Any = {"beam": beam, "length_penalty": length_penalty, "batch_size": batch_size}
    if loaded.reads_pictures:
        refuse_with_images(features=features, alignments=alignments)
        captions, pairs = read_asked(data, split, loaded, given, regions)
        subject = f"{counted(len(captions), 'image')} of {captions.origin}"
        how = Measuring(subject, LOOKED_AT, resamples, search)
        found = caption_findings(loaded, model, captions, pairs.questions(), regions, how)
    else:
        check_given(given, (split,), regions)
        pairs = read_data(data, source, target, features)
        subject = f"{counted(len(pairs), 'pair')} of {pairs.origin}"
        how = Measuring(subject, LOOKED_AT, resamples, search, unit)
        found = text_findings(loaded, model, pairs, alignments, how)
    write_report(model_report(found), out)
    tell(f"wrote {out}")
