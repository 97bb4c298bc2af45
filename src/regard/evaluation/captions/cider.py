"""CIDEr-D: how much of a caption is what the references agree on (Vedantam et al. 2015)."""

import math
import operator
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from regard.evaluation.captions.means import mean_score
from regard.evaluation.captions.ngrams import NGram, count_ngrams
from regard.evaluation.captions.signatures import signature
from regard.evaluation.captions.tokenized import Captions
from regard.evaluation.score import Score

LONGEST = 4
SIGMA = 6.0

#: Tokens of the references of each image.
References = Iterable[Sequence[Sequence[Hashable]]]


@dataclass(frozen=True)
class DocumentFrequencies:
    """In how many images each n-gram comes, whichever reference has it.

    images: how many there are in all.
    """

    counts: Mapping[NGram, int]
    images: int

    @classmethod
    def of(cls, references: References) -> "DocumentFrequencies":
        """Count over the references of images, in tokens of any kind that can be hashed."""
        counts: Counter[NGram] = Counter()
        images = 0
        for accepted in references:
            images += 1
            counts.update({ngram for each in accepted for ngram in count_ngrams(each, LONGEST)})
        return cls(counts, images)

    @cached_property
    def weights(self) -> Mapping[NGram, float]:
        """log(images / images with the n-gram) of each n-gram."""
        return {ngram: math.log(self.images / count) for ngram, count in self.counts.items()}

    @property
    def unseen(self) -> float:
        """The weight of an n-gram that no image has: as if one had it."""
        return math.log(self.images)


@dataclass(frozen=True)
class WeightedReferences:
    """The references of one image, made ready to score captions against.

    places: for each n-gram the references that have it: by index, its weight there (how often it
        comes times its document weight), and that weight over the length of the reference's vector.
    lengths: `[references]`, in tokens.
    """

    places: Mapping[NGram, Sequence[tuple[int, float, float]]]
    lengths: Sequence[int]


@dataclass(frozen=True)
class CiderD:
    """The metric with its document frequencies: of the evaluated images, or of any others.

    Tokens may be anything that can be hashed, so captions that training samples can be scored as
    ids. References are prepared once an image; a score then takes less than a tenth of a
    millisecond.
    """

    frequencies: DocumentFrequencies
    sigma: float = SIGMA

    def prepare(self, references: Sequence[Sequence[Hashable]]) -> WeightedReferences:
        """Weigh the references of one image. Raises ValueError when there is none."""
        if not references:
            raise ValueError("CIDEr-D needs at least one reference")
        places: dict[NGram, list[tuple[int, float, float]]] = {}
        for index, tokens in enumerate(references):
            weights = self._weights(tokens)
            norms = _norms(weights)
            for ngram, weight in weights.items():
                share = weight / (norms[len(ngram) - 1] or 1.0)
                places.setdefault(ngram, []).append((index, weight, share))
        return WeightedReferences(places, [len(tokens) for tokens in references])

    def score(self, caption: Sequence[Hashable], references: WeightedReferences) -> float:
        """CIDEr-D of one caption, from 0 to 10.

        10 / (4 m) times the sum, over m references and n = 1 to 4, of
        exp(-(l - l_j)^2 / 2 sigma^2) min(g, g_j) . g_j / (|g| |g_j|), where l counts tokens and g
        weighs n-grams by how often they come and how few images have them. (Equation 3 of the paper
        divides how often by the number of n-grams; its authors' program does not.)
        """
        weights = self._weights(caption)
        norms = [norm or 1.0 for norm in _norms(weights)]
        count = len(references.lengths)
        similarity = [0.0] * count
        for ngram, weight in weights.items():
            norm = norms[len(ngram) - 1]
            for index, other, share in references.places.get(ngram, ()):
                similarity[index] += min(weight, other) / norm * share
        penalties = (
            math.exp(-((len(caption) - length) ** 2) / (2 * self.sigma**2))
            for length in references.lengths
        )
        return 10 * sum(map(operator.mul, similarity, penalties)) / (LONGEST * count)

    def _weights(self, tokens: Sequence[Hashable]) -> dict[NGram, float]:
        known, unseen = self.frequencies.weights.get, self.frequencies.unseen
        counts = count_ngrams(tokens, LONGEST)
        return {ngram: count * known(ngram, unseen) for ngram, count in counts.items()}


def cider_d_score(
    captions: Captions, frequencies: DocumentFrequencies | None = None, *, resamples: int = 0
) -> Score:
    """The mean of CIDEr-D over the images, times 100: customary values are 0 to about 150.

    frequencies: None for those of the references of these images. Resamples keep them as they are.
    """
    source = "refs" if frequencies is None else f"{frequencies.images} images"
    metric = CiderD(frequencies or DocumentFrequencies.of(captions.references))
    values = [
        metric.score(caption, metric.prepare(accepted))
        for caption, accepted in zip(captions.hypotheses, captions.references, strict=True)
    ]
    signed = signature(f"n:{LONGEST}", f"sigma:{SIGMA:g}", f"df:{source}")
    return mean_score("cider_d", values, signed, resamples)


def _norms(weights: Mapping[NGram, float]) -> list[float]:
    """The length of the vectors of weights of each order of n-grams."""
    squares = [0.0] * LONGEST
    for ngram, weight in weights.items():
        squares[len(ngram) - 1] += weight * weight
    return [math.sqrt(square) for square in squares]
