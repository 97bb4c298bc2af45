"""METEOR 1.5 for English with its exact and stem matches (Denkowski and Lavie 2014).

The whole metric also matches synonyms, from WordNet, and paraphrases, from a table of 60 MB. This
one does not, and its name says so.
"""

from collections.abc import Sequence

from regard.evaluation.captions.matching import Match, count_chunks, match_words
from regard.evaluation.captions.signatures import signature
from regard.evaluation.captions.tokenized import Captions
from regard.evaluation.captions.words import FUNCTION_WORDS, meteor_words, stemmer_version
from regard.evaluation.intervals import bootstrap_interval
from regard.evaluation.score import Score

# METEOR 1.5's for English: of the task "rank"
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
EXACT, STEM = 1.0, 0.6

#: What a caption adds to the sums of a corpus: weighted matches and weighted words of the caption,
#: the same of the reference, chunks, matches.
Counts = tuple[float, float, float, float, int, int]


def meteor_exact_stem_score(captions: Captions, *, resamples: int = 0) -> Score:
    """METEOR (exact, stem) of a corpus, in percent: of the sums over its images.

    Of each image's references the one counts that the caption scores best with. Equal to METEOR 1.5
    with the modules exact and stem, as COCO's evaluation runs it, up to changes in the stemmer.
    """
    counts = [
        caption_counts(caption, accepted)
        for caption, accepted in zip(captions.hypotheses, captions.references, strict=True)
    ]

    def combine(sums: Sequence[float]) -> float:
        return 100 * meteor(sums)

    interval = None
    if resamples:
        interval = bootstrap_interval(counts, combine, resamples=resamples)
    value = combine([sum(column) for column in zip(*counts, strict=True)])
    signed = signature("modules:exact+stem", "lang:en", f"snowball:{stemmer_version()}")
    return Score("meteor_exact_stem", value, signed, "higher", interval)


def meteor(counts: Sequence[float]) -> float:
    """METEOR of counts, of one caption or of many, from 0 to 1.

    (1 - Pen) P R / (alpha P + (1 - alpha) R), where P and R are the weighted matches as a share of
    the weighted words of caption and reference, and Pen = gamma (chunks / matches)^beta. Alpha is
    0.85, beta 0.2, gamma 0.6.
    """
    matched, words, matched_reference, words_reference, chunks, matches = counts
    if not matched:
        return 0.0
    precision, recall = matched / words, matched_reference / words_reference
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    return mean * (1 - GAMMA * (chunks / matches) ** BETA)


def caption_counts(caption: Sequence[str], references: Sequence[Sequence[str]]) -> Counts:
    """The counts of a caption's tokens against the reference it scores best with, of equally good
    ones the first."""
    words = meteor_words(caption)
    return max((pair_counts(words, meteor_words(each)) for each in references), key=meteor)


def pair_counts(caption: Sequence[str], reference: Sequence[str]) -> Counts:
    """The counts of a caption's words against one reference's.

    A function word weighs 1 - delta, any other delta = 0.75; a match by stem counts 0.6. A pair
    that is matched whole, in one chunk, has no chunks: nothing in it is broken.
    """
    matches = match_words(caption, reference)
    chunks = count_chunks(matches)
    whole = chunks == 1 and len(matches) == len(caption) == len(reference)
    return (
        sum(_weight(match) * _delta(caption[match.caption]) for match in matches),
        sum(map(_delta, caption)),
        sum(_weight(match) * _delta(reference[match.reference]) for match in matches),
        sum(map(_delta, reference)),
        0 if whole else chunks,
        len(matches),
    )


def _weight(match: Match) -> float:
    return EXACT if match.exact else STEM


def _delta(word: str) -> float:
    return 1 - DELTA if word in FUNCTION_WORDS else DELTA
