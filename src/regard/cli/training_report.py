"""The report that `train` leaves in the run directory, made within seconds of a sample."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Model
    from regard.cli.pictures import Learned
    from regard.data.pairs import Pairs

#: Most validation pairs, or images, that are measured; most sources to measure trust on.
MEASURED, TRUSTED = 500, 50
#: Seconds that each of the two may take, as the first answers foretell.
SECONDS = 10.0
_TIMED = 16  # sources that are answered to know how long others will take
_FEWEST = 20


def write_training_report(run: Path, learned: Learned) -> Path:
    """Measure the trained model on the first validation pairs, and write `report.html` beside it.

    Raises UserError for what cannot be measured or written.
    """
    from regard.api import load
    from regard.report import model_report
    from regard.training.run import REPORT
    from regard.views import write_report

    model = load(run)
    find = _of_captions if learned.captions is not None else _of_texts
    path = run / REPORT
    write_report(model_report(find(model, run, learned)), path)
    return path


def _of_texts(model: Model, run: Path, learned: Learned) -> Any:
    from regard.cli.findings import text_findings

    valid = learned.valid
    seconds = _seconds_each(model, valid)
    count = _fitting(seconds, MEASURED, len(valid))
    some = replace(valid, pairs=valid.pairs[:count], lines=valid.lines[:count])
    return text_findings(
        model, [run], some, None, _how(model, some, seconds, len(valid), "pairs", valid.origin)
    )


def _of_captions(model: Model, run: Path, learned: Learned) -> Any:
    from regard.cli.caption_findings import caption_findings

    captions = learned.captions
    assert captions is not None
    asked = learned.valid.questions()
    seconds = _seconds_each(model, asked)
    count = _fitting(seconds, MEASURED, len(captions))
    some = replace(asked, pairs=asked.pairs[:count])
    how = _how(model, some, seconds, len(captions), "images", captions.origin)
    return caption_findings(model, [run], captions.chosen(range(count)), some, None, how)


def _how(model: Model, some: Pairs, seconds: float, there_are: int, what: str, origin: str) -> Any:
    from regard.cli.findings import Measuring

    beam = model.configuration.training.validation_beam
    search = {"beam": beam, "length_penalty": None, "batch_size": 64}
    copies = 2 * _positions(some)  # of each source, to be computed for what it attends to
    return Measuring(
        f"{_subject(len(some), there_are, what)} ({origin}), "
        f"{'greedily' if beam == 1 else f'with beam {beam}'}, as training validates",
        trusted=_fitting(seconds * copies, TRUSTED, len(some)),
        resamples=1000,
        search=search,
        quiet=True,
    )


def _subject(count: int, there_are: int, what: str) -> str:
    if count == there_are:
        return f"all {count:,} validation {what}"
    return f"the first {count:,} of {there_are:,} validation {what}"


def _seconds_each(model: Model, valid: Pairs) -> float:
    """How long an answer takes, on some of the first that are to be answered."""
    from regard.evaluation.answering import answer_pairs

    some = valid.questions()[:_TIMED]
    started = time.perf_counter()
    beam = model.configuration.training.validation_beam
    answer_pairs(model.network, model.tokenizers, some, model.search_configuration(), beam=beam)
    return (time.perf_counter() - started) / len(some)


def _fitting(seconds: float, most: int, there_are: int) -> int:
    """How many can be computed in `SECONDS`, but some in any case."""
    return min(there_are, most, max(_FEWEST, int(SECONDS / max(seconds, 1e-9))))


def _positions(some: Pairs) -> float:
    """About how many positions a source has; of texts, words or characters."""
    first = some[0]
    if first.picture is not None:
        return len(first.picture)
    lengths = [max(len(pair.source.split()), len(pair.source) / 6) for pair in some]
    return sum(lengths) / len(lengths)


def try_training_report(run: Path, learned: Learned) -> Path | None:
    """The same for a training that is over: what goes wrong is told, and the model is as it was.

    A signal ends it, with a word on how to have the report after all.
    """
    from regard.cli import Terminated
    from regard.cli.streams import report

    try:
        return write_training_report(run, learned)
    except UserError as error:
        report(f"no report was written: {error}")
        return None
    except (KeyboardInterrupt, Terminated):
        report("stopped while the report was made; the model is whole: `regard report` makes one")
        raise
