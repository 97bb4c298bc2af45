"""CIDEr-D: how much of a caption is what the references agree on (Vedantam et al. 2015)."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

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

    def weight(self, ngram: NGram) -> float:
        """log(images / images with the n-gram); an n-gram that is in none counts as in one."""
        return math.log(self.images / max(1, self.counts.get(ngram, 0)))


@dataclass(frozen=True)
class WeightedReferences:
    """The references of one image, made ready to score captions against.

    places: for each n-gram, the references that have it, by index, and its weight there: how often
        it comes times its document weight.
    norms: `[references][LONGEST]`, the length of each vector of weights.
    lengths: `[references]`, in tokens.
    """

    places: Mapping[NGram, Sequence[tuple[int, float]]]
    norms: Sequence[Sequence[float]]
    lengths: Sequence[int]


@dataclass(frozen=True)
class CiderD:
    """The metric with its document frequencies: of the evaluated images, or of any others.

    Tokens may be anything that can be hashed, so captions that training samples can be scored as
    ids. References are prepared once an image; a score then takes some ten microseconds.
    """

    frequencies: DocumentFrequencies
    sigma: float = SIGMA

    def prepare(self, references: Sequence[Sequence[Hashable]]) -> WeightedReferences:
        """Weigh the references of one image. Raises ValueError when there is none."""
        if not references:
            raise ValueError("CIDEr-D needs at least one reference")
        places: dict[NGram, list[tuple[int, float]]] = {}
        norms = []
        for index, tokens in enumerate(references):
            weights = self._weights(tokens)
            for ngram, weight in weights.items():
                places.setdefault(ngram, []).append((index, weight))
            norms.append(_norms(weights))
        return WeightedReferences(places, norms, [len(tokens) for tokens in references])

    def score(self, caption: Sequence[Hashable], references: WeightedReferences) -> float:
        """CIDEr-D of one caption, from 0 to 10.

        10 / (4 m) times the sum, over m references and n = 1 to 4, of
        exp(-(l - l_j)^2 / 2 sigma^2) min(g, g_j) . g_j / (|g| |g_j|), where l counts tokens and g
        weighs n-grams by how often they come and how few images have them. (Equation 3 of the paper
        divides how often by the number of n-grams; its authors' program does not.)
        """
        weights = self._weights(caption)
        norms = _norms(weights)
        similarity = 0.0
        penalties = [
            math.exp(-((len(caption) - length) ** 2) / (2 * self.sigma**2))
            for length in references.lengths
        ]
        for ngram, weight in weights.items():
            order = len(ngram) - 1
            for index, other in references.places.get(ngram, ()):
                norm = norms[order] * references.norms[index][order]
                if norm:
                    similarity += penalties[index] * min(weight, other) * other / norm
        return 10 * similarity / (LONGEST * len(references.lengths))

    def _weights(self, tokens: Sequence[Hashable]) -> dict[NGram, float]:
        weight = self.frequencies.weight
        return {
            ngram: count * weight(ngram) for ngram, count in count_ngrams(tokens, LONGEST).items()
        }


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
