"""BLEU-1 to BLEU-4 of captions: corpus BLEU over tokens, as COCO's evaluation has it."""

from collections.abc import Sequence
from typing import Any

from regard.evaluation.captions.signatures import signature
from regard.evaluation.captions.tokenized import Captions
from regard.evaluation.intervals import bootstrap_interval
from regard.evaluation.score import Score
from regard.evaluation.text import reference_streams

ORDERS = (1, 2, 3, 4)


def bleu_scores(captions: Captions, *, resamples: int = 0) -> list[Score]:
    """BLEU-1, BLEU-2, BLEU-3 and BLEU-4 (Papineni et al. 2002), in percent.

    BLEU-N is BP (p_1 ... p_N)^(1/N) over the whole corpus. p_n is the share of the captions'
    n-grams that are in a reference, each at most as often as in the reference that has it most
    often. BP = min(1, exp(1 - r/c)), with c the length of all captions and r that of the references
    closest in length, of equally close ones the shorter. No smoothing: without any match of N
    tokens BLEU-N is 0. Counted by sacreBLEU.
    """
    from sacrebleu.metrics import BLEU

    metric: Any = BLEU(tokenize="none", smooth_method="none", force=True)
    texts = [" ".join(tokens) for tokens in captions.hypotheses]
    references = [[" ".join(tokens) for tokens in each] for each in captions.references]
    counts = metric._extract_corpus_statistics(texts, reference_streams(references))
    sums = [sum(column) for column in zip(*counts, strict=True)]

    def score(order: int) -> Score:
        def combine(totals: Sequence[float]) -> float:
            return _bleu(totals, order)

        interval = None
        if resamples:
            interval = bootstrap_interval(counts, combine, resamples=resamples)
        name = f"bleu_{order}"
        return Score(name, combine(sums), signature("reflen:closest"), "higher", interval)

    return [score(order) for order in ORDERS]


def _bleu(sums: Sequence[float], order: int) -> float:
    """BLEU of n-grams up to `order` from sacreBLEU's sums: both lengths, matches, all n-grams."""
    from sacrebleu.metrics import BLEU

    length, reference_length, *rest = map(int, sums)
    computed = BLEU.compute_bleu(
        rest[:order],
        rest[max(ORDERS) :][:order],
        length,
        reference_length,
        smooth_method="none",
        max_ngram_order=order,
    )
    return float(computed.score)
