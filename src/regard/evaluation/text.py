"""BLEU, chrF and TER of raw text, computed by sacreBLEU and signed by it."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from regard.evaluation.checks import check_answers
from regard.evaluation.intervals import bootstrap_interval
from regard.evaluation.score import Score

__all__ = ["Score", "bleu", "chrf", "corpus_score", "ter"]


def bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, resamples: int = 0
) -> Score:
    """Corpus BLEU, cased, tokenised by sacreBLEU's 13a (Post 2018).

    hypotheses: one raw output a source.
    references: the accepted targets of each source; their number may differ from source to source.
    resamples: how many bootstrap resamples of the sources make the interval; 0 = no interval.
    Raises UserError when a source has no target, or the counts differ.
    """
    from sacrebleu.metrics import BLEU

    # force: silences a guess, from lines that end in " .", that the text was tokenised before
    return corpus_score("bleu", BLEU(force=True), hypotheses, references, "higher", resamples)


def chrf(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, resamples: int = 0
) -> Score:
    """Corpus chrF2 over character 1- to 6-grams (Popović 2015). Arguments as of `bleu`."""
    from sacrebleu.metrics import CHRF

    return corpus_score("chrf", CHRF(), hypotheses, references, "higher", resamples)


def ter(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, resamples: int = 0
) -> Score:
    """Translation edit rate, lower-cased, Tercom's tokens (Snover et al. 2006).

    Lower is better; over 100 when there are more edits than reference words. Arguments as of
    `bleu`.
    """
    from sacrebleu.metrics import TER

    return corpus_score("ter", TER(), hypotheses, references, "lower", resamples)


def reference_streams(references: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """Accepted targets per source turned into sacreBLEU's streams, each as long as the corpus.

    Stream k holds the k-th target of every source, None where a source has fewer: sacreBLEU's
    own sign for "no such reference" (an empty string would be a reference of no words).
    """
    most = max(len(accepted) for accepted in references)
    return [
        [accepted[stream] if stream < len(accepted) else None for accepted in references]
        for stream in range(most)
    ]


def corpus_score(
    name: str,
    metric: Any,
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    better: Literal["higher", "lower"],
    resamples: int,
    signed: Callable[[str], str] = str,
) -> Score:
    """What one of sacreBLEU's metrics makes of a corpus. Other arguments as of `bleu`.

    signed: what becomes of the metric's own signature.
    """
    check_answers(hypotheses, references)
    streams = reference_streams(references)
    if not resamples:
        value = metric.corpus_score(list(hypotheses), streams).score
        return Score(name, float(value), signed(str(metric.get_signature())), better)
    # What corpus_score does, one step at a time, since resamples need the counts of each source.
    # sacreBLEU's own bootstrap holds all resamples of all sources at once: gigabytes for a
    # dictionary.
    counts = metric._extract_corpus_statistics(list(hypotheses), streams)
    value = metric._aggregate_and_compute(counts).score
    interval = bootstrap_interval(
        counts,
        lambda sums: float(metric._compute_score_from_stats(sums).score),
        resamples=resamples,
    )
    return Score(name, float(value), signed(str(metric.get_signature())), better, interval)
