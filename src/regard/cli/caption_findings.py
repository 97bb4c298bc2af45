"""What a report tells of a model of images."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.findings import (
    DRAWN,
    LOOKED_INTO,
    NO_ATTENTION,
    Measuring,
    card,
    history,
    names,
    shown_stack,
)
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Caption, Model
    from regard.data.captions import CaptionData
    from regard.data.pairs import Pairs
    from regard.report import Findings


def caption_findings(
    model: Model,
    runs: Sequence[Path],
    captions: CaptionData,
    asked: Pairs,
    regions: Path | None,
    how: Measuring,
) -> Findings:
    """Caption images, and find out all that there is.

    asked: a pair for each image, with its picture. regions: where the nouns of each first caption
    are, if known. Raises UserError as `evaluate`.
    """
    from regard.cli.caption_figures import measure_asked
    from regard.evaluation.captions import WORDING_HEADER
    from regard.evaluation.extremes import find_extremes
    from regard.evaluation.transduction import spaced_symbols
    from regard.report import Findings

    started = time.perf_counter()
    measured = measure_asked(model, captions, asked, resamples=how.resamples, **how.search)
    seconds = time.perf_counter() - started
    references = [list(example.captions) for example in captions]
    return Findings(
        name=names(runs),
        subject=f"Measured on {how.subject}.",
        sources=[str(example.identifier) for example in captions],
        scores=measured.report.evaluation,
        remarks=measured.report.remarks,
        wording=(WORDING_HEADER, *measured.report.wording_rows()),
        history=history(runs, model.configuration.training.metric),
        lengths=None,
        extremes=find_extremes(measured.captions, references, spaced_symbols),
        confusions=None,
        examples=_examples(model, captions, asked, how),
        alignments=None,
        pointing=_pointing(model, captions, asked, regions, how),
        entropies=_entropies(model, asked, how),
        trust=_trust(model, asked, how),
        **card(model, runs, len(asked), seconds),
    )


def _some(model: Model, asked: Pairs, most: int, how: Measuring) -> list[tuple[int, Caption]]:
    """Images spread evenly, by their number, with captions and what these looked at."""
    from regard.evaluation.captioning import caption_pictures
    from regard.training.validation import spread_evenly

    options = dict(how.search)
    search = model.search_configuration(options.pop("length_penalty", None))
    chosen = spread_evenly(len(asked), most)
    pictures: Any = [asked[index].picture for index in chosen]
    found = caption_pictures(model.network, model.tokenizers, pictures, search, **options)
    return [(index, each) for index, each in zip(chosen, found, strict=True) if each.attention]


def _examples(model: Model, captions: CaptionData, asked: Pairs, how: Measuring) -> Any:
    from regard.views.caption_view import caption_view

    some = _some(model, asked, DRAWN, how)
    if not some:
        return NO_ATTENTION
    try:
        backbone = model.needed_backbone()
        return [caption_view(captions[index].image, each, backbone) for index, each in some]
    except UserError as error:
        return f"Not drawn: {error}."


def _entropies(model: Model, asked: Pairs, how: Measuring) -> Any:
    """Of the attention that captions show."""
    from regard.evaluation.attention_entropy import entropies_by_head

    flat = [
        [[weight for row in token for weight in row] for token in caption.attention]
        for _, caption in _some(model, asked, LOOKED_INTO, how)
    ]
    return entropies_by_head([(shown_stack(each),) for each in flat]) if flat else NO_ATTENTION


def _pointing(
    model: Model, captions: CaptionData, asked: Pairs, regions: Path | None, how: Measuring
) -> Any:
    from regard.cli.caption_figures import measure_pointing
    from regard.data.captions.regions import read_regions

    if regions is None:
        return "Not measured: no regions of nouns were given (--regions)."
    batch_size = how.search.get("batch_size", 64)
    gold = read_regions(regions)
    return measure_pointing(model, captions, asked, gold, how.resamples, batch_size)


def _trust(model: Model, asked: Pairs, how: Measuring) -> Any:
    from regard.cli.trust_figures import trust_captions

    try:
        return trust_captions(model, asked, most=how.trusted, resamples=how.resamples, **how.search)
    except UserError as error:
        return f"Not measured: {error}."
