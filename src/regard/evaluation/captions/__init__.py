"""How good captions are: BLEU-1 to -4, METEOR, ROUGE-L, CIDEr-D, and how captions are worded.

Nothing here imports sacreBLEU, the stemmer or numpy before a function needs it.
"""

from regard.evaluation.captions.bleu import bleu_scores
from regard.evaluation.captions.cider import (
    CiderD,
    DocumentFrequencies,
    WeightedReferences,
    cider_d_score,
)
from regard.evaluation.captions.meteor import meteor_exact_stem_score
from regard.evaluation.captions.report import (
    CAPTION_METRICS,
    WORDING_HEADER,
    CaptionReport,
    evaluate_captions,
)
from regard.evaluation.captions.rouge import rouge_l, rouge_l_score
from regard.evaluation.captions.tokenized import Captions
from regard.evaluation.captions.tokens import caption_tokens
from regard.evaluation.captions.wording import Wording, wording_of

__all__ = [
    "CAPTION_METRICS",
    "WORDING_HEADER",
    "CaptionReport",
    "Captions",
    "CiderD",
    "DocumentFrequencies",
    "WeightedReferences",
    "Wording",
    "bleu_scores",
    "caption_tokens",
    "cider_d_score",
    "evaluate_captions",
    "meteor_exact_stem_score",
    "rouge_l",
    "rouge_l_score",
    "wording_of",
]
