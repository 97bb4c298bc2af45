"""A report on captions: every asked-for figure of one caption an image, from raw text."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from regard.evaluation.captions.bleu import bleu_scores
from regard.evaluation.captions.cider import DocumentFrequencies, cider_d_score
from regard.evaluation.captions.meteor import meteor_exact_stem_score
from regard.evaluation.captions.rouge import rouge_l_score
from regard.evaluation.captions.tokenized import Captions
from regard.evaluation.captions.tokens import caption_tokens
from regard.evaluation.captions.wording import Wording, wording_of
from regard.evaluation.checks import unknown_metric
from regard.evaluation.report import Evaluation
from regard.evaluation.score import Score
from regard.evaluation.text import bleu

#: The order in which papers on captioning list them; `bleu` is sacreBLEU's, of the raw text.
CAPTION_METRICS = (
    "bleu_1",
    "bleu_2",
    "bleu_3",
    "bleu_4",
    "meteor_exact_stem",
    "rouge_l",
    "cider_d",
    "bleu",
)
#: With fewer images, how rare an n-gram is says little.
FEW_IMAGES = 100

WORDING_HEADER = ("captions", "count", "distinct %", "novel %", "tokens each", "vocabulary")


@dataclass(frozen=True)
class CaptionReport:
    """The figures of one caption an image.

    evaluation: the scores, all of them better when higher; its sources are the images.
    wording: of the captions; reference_wording: of all references, to compare it with.
    remarks: what to know before the figures are believed.
    """

    evaluation: Evaluation
    wording: Wording
    reference_wording: Wording
    remarks: tuple[str, ...] = ()

    def metric(self, name: str) -> Score:
        """The score of that name; UserError naming the nearest one when it was not computed."""
        return self.evaluation.metric(name)

    def wording_rows(self) -> list[list[str]]:
        """Cells under `WORDING_HEADER`: a row for the captions, one for the references."""
        return [
            _cells("given", self.evaluation.sources, self.wording),
            _cells("references", self.evaluation.references, self.reference_wording),
        ]

    def as_dict(self) -> dict[str, Any]:
        """In JSON's terms: `{"images", "references", "metrics", "wording", ...}`."""
        figures = self.evaluation.as_dict()
        return {
            "images": figures.pop("sources"),
            **figures,
            "wording": asdict(self.wording),
            "reference_wording": asdict(self.reference_wording),
            "remarks": list(self.remarks),
        }


def evaluate_captions(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    training: Collection[str] | None = None,
    *,
    names: Sequence[str] = CAPTION_METRICS,
    frequencies: DocumentFrequencies | None = None,
    resamples: int = 0,
) -> CaptionReport:
    """Measure captions against the references of their images, all from raw text.

    hypotheses: one caption an image, an empty string for an empty one.
    references: the captions that people gave to each image, at least one, in any number.
    training: the captions of the training data, which tell the novel ones; None if unknown.
    names: which metrics, of `CAPTION_METRICS`, in the order wanted.
    frequencies: for CIDEr-D; None for those of these references.
    resamples: bootstrap resamples of the images for intervals of 95 %; 0 = none.
    Raises UserError for an unknown name, differing counts, an image without a reference.
    """
    for name in names:
        if name not in CAPTION_METRICS:
            raise unknown_metric(name, CAPTION_METRICS)
    captions = Captions.cut(hypotheses, references)
    found: dict[str, Score] = {}
    for name in names:
        if name == "bleu":
            found[name] = bleu(hypotheses, references, resamples=resamples)
        elif name not in found:
            scores = _compute(name, captions, frequencies, resamples)
            found |= {score.name: score for score in scores}
    every = [tokens for each in captions.references for tokens in each]
    known = None if training is None else [caption_tokens(caption) for caption in training]
    return CaptionReport(
        Evaluation(tuple(found[name] for name in names), len(captions.hypotheses), len(every)),
        wording_of(captions.hypotheses, known),
        wording_of(every),
        _remarks(captions, "cider_d" in names and frequencies is None),
    )


def _compute(
    name: str, captions: Captions, frequencies: DocumentFrequencies | None, resamples: int
) -> list[Score]:
    """The score of a name, with those that come of the same counts."""
    if name == "cider_d":
        return [cider_d_score(captions, frequencies, resamples=resamples)]
    if name == "rouge_l":
        return [rouge_l_score(captions, resamples=resamples)]
    if name == "meteor_exact_stem":
        return [meteor_exact_stem_score(captions, resamples=resamples)]
    return bleu_scores(captions, resamples=resamples)


def _remarks(captions: Captions, own_frequencies: bool) -> tuple[str, ...]:
    """own_frequencies: whether CIDEr-D weighs n-grams by the references of these images."""
    count = len(captions.hypotheses)
    remarks = []
    if own_frequencies and count < FEW_IMAGES:
        remarks.append(
            f"CIDEr-D weighs words by how few images have them; {count} images are too few for "
            f"that: take {FEW_IMAGES} or more"
        )
    if count > 1 and len({tuple(tokens) for tokens in captions.hypotheses}) == 1:
        remarks.append("all captions are the same: does the model see the images?")
    return tuple(remarks)


def _cells(name: str, count: int, wording: Wording) -> list[str]:
    novel = "" if wording.novel is None else f"{wording.novel:.2f}"
    figures = [f"{wording.distinct:.2f}", novel, f"{wording.length:.2f}", f"{wording.vocabulary:,}"]
    return [name, f"{count:,}", *figures]
