"""Sections of a report: what the model attends to, and how far that is to be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from regard.evaluation.trust_wording import HEADER, trust_rows, trust_sizes
from regard.report.findings import Alignments
from regard.report.measured import between
from regard.views.report_html import Section, Table

if TYPE_CHECKING:
    from regard.evaluation import Pointing
    from regard.evaluation.attention_entropy import HeadEntropies
    from regard.evaluation.trust import Trust
    from regard.views import AttentionView

_KINDS = {
    "cross": "Output to source",
    "encoder": "Source to itself",
    "decoder": "Output to what came before",
}
_TRUST = (
    "Is the position that is attended to most the one whose absence changes the output most? Each "
    "position of a source is left out, the output stays, and its probabilities are computed again. "
    "Kendall's tau compares the order of positions by attention with the order by how far the "
    "predictions move (total variation distance): 1 is the same order, 0 none. Random weights are "
    "those of each step, shuffled.",
    "Jain and Wallace 2019 found such agreement to be weak in classifiers; Wiegreffe and Pinter "
    "2019 answered that it has to be tested, model by model.",
)


def attention(examples: Sequence[AttentionView] | str) -> Section:
    """A few outputs, to be looked into."""
    heading = "Attention"
    if isinstance(examples, str):
        return Section(heading, (examples,))
    return Section(heading, views=tuple(examples))


def alignments(found: Alignments | str) -> Section:
    """Alignment error rate against true links."""
    heading = "Word alignment"
    if isinstance(found, str):
        return Section(heading, (found,))
    rows = tuple(
        (name, f"{rate.value:.2f}", between(rate), *(f"{each.value:.2f}" for each in others))
        for name, (rate, *others) in (
            ("attention", found.attention),
            ("nearest diagonal", found.diagonal),
        )
    )
    header = ("links", "alignment_error_rate", "95 % interval", "precision", "recall")
    return Section(heading, (found.sizes,), tables=(Table(header, rows, numbers=(1, 3, 4)),))


def pointing(found: Pointing | str) -> Section:
    """Whether the attention of nouns is at what they name."""
    heading = "Pointing"
    if isinstance(found, str):
        return Section(heading, (found,))
    intervals = {score.name: between(score) for score in (found.accuracy, found.inside)}
    rows = tuple((name, f"{value:.2f}", intervals.get(name, "")) for name, value in found.rows())
    return Section(
        heading,
        (f"{found.nouns:,} nouns of {found.captions:,} captions.",),
        tables=(Table(("attention", "%", "95 % interval"), rows, numbers=(1,)),),
    )


def entropies(found: Sequence[HeadEntropies] | str) -> Section:
    """How spread out each head is."""
    heading = "Entropy of attention"
    if isinstance(found, str):
        return Section(heading, (found,))
    said = (
        "Bits, on average over tokens: 0 is attention to a single place; even attention, the same "
        "weight everywhere, has the figure above each table."
    )
    return Section(heading, (said,), tables=tuple(map(_heads, found)))


def _heads(found: HeadEntropies) -> Table:
    layer = "step" if found.steps else "layer"
    heads = len(found.bits[0])
    names = ("mean over heads",) if found.mean else tuple(f"head {n}" for n in range(1, heads + 1))
    rows = tuple(
        (f"{layer} {number}", *(f"{value:.2f}" for value in values))
        for number, values in enumerate(found.bits, start=1)
    )
    caption = f"{_KINDS[found.kind]}; even attention: {found.even:.2f}; {found.rows:,} tokens"
    return Table((layer, *names), rows, tuple(range(1, heads + 1)), caption)


def trust(found: Trust | str) -> Section:
    """How far attention agrees with what leaving positions out does."""
    heading = "How far to trust attention"
    if isinstance(found, str):
        return Section(heading, (found,))
    rows = tuple(map(tuple, trust_rows(found)))
    return Section(
        heading, (*_TRUST, f"{trust_sizes(found)}."), tables=(Table(HEADER, rows, numbers=(2, 4)),)
    )
