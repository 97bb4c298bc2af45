"""The page of a model: all that was found, section after section."""

from __future__ import annotations

from regard.report import attended, measured
from regard.report.findings import Findings
from regard.views.report_html import Report, Section, Table


def model_report(found: Findings) -> Report:
    """What was found as a report, to be written by `regard.views.write_report`.

    Every section that the model can have is there: one about which nothing was found says why.
    """
    sections = (
        measured.scores(found),
        measured.curves(found.history),
        None if found.lengths is None else measured.by_length(found.lengths),
        measured.extremes(found),
        None if found.confusions is None else measured.confusions(found),
        attended.attention(found.examples),
        None if found.alignments is None else attended.alignments(found.alignments),
        None if found.pointing is None else attended.pointing(found.pointing),
        attended.entropies(found.entropies),
        attended.trust(found.trust),
        _card(found),
    )
    return Report(
        title=found.name,
        introduction=(found.subject,),
        sections=tuple(section for section in sections if section is not None),
    )


def _card(found: Findings) -> Section:
    rows = tuple((name, value) for name, value in found.card)
    return Section(
        "The model", tables=(Table((), rows),), listings=(("Configuration", found.configuration),)
    )
