"""Pointing: whether the attention of a caption's words is at what they name.

The pointing game (Zhang et al. 2016, arXiv 1608.00507), played by the words of a caption over the
grid of its picture:

- A noun is its whole phrase ("a small blue star"). Its map is the attention of all tokens of the
  phrase added up.
- A cell of the grid is inside the noun's region when the middle of the cell is (`cells_inside`).
- The noun is pointed to when the highest cell of its map is inside. Of several equally high cells
  each counts its share, so that an even map scores what chance does.

The share of nouns that are pointed to stands beside two figures that need no model: that of a peak
in a cell drawn at random, and that of the middle of the picture. The share of attention that is
inside stands beside the first of them too: even attention has just as much.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.errors import UserError
from regard.evaluation.cells import cells_inside, middle_is_inside
from regard.evaluation.intervals import bootstrap_interval
from regard.evaluation.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Noun:
    """What a caption names, and where that is.

    tokens: indices of the first token of its phrase, and of the one after its last.
    region: a box or a mask, as `cells_inside` takes it.
    """

    tokens: tuple[int, int]
    region: Any


@dataclass(frozen=True)
class PointedNoun:
    """One noun, graded; all from 0 to 1.

    hit: whether the peak is inside, a share where several cells are equally high.
    inside: the share of its attention that is inside; of no attention at all, 0.
    chance: the share of cells that are inside; center: whether the middle of the picture is.
    """

    hit: float
    inside: float
    chance: float
    center: float


@dataclass(frozen=True)
class Pointing:
    """The nouns of some captions, graded; all in percent.

    accuracy: of nouns, those whose attention peaks inside their regions.
    inside: of the nouns' attention, the share that is inside, on average.
    chance: what a random peak and even attention would have; center: a peak in the middle.
    """

    accuracy: Score
    inside: Score
    chance: float
    center: float
    nouns: int
    captions: int

    def rows(self) -> list[tuple[str, float]]:
        """Names and figures in the order in which they are shown: measured ones, then chance."""
        return [
            (self.accuracy.name, self.accuracy.value),
            (self.inside.name, self.inside.value),
            ("chance", self.chance),
            ("center", self.center),
        ]

    def as_dict(self) -> dict[str, Any]:
        """In JSON's terms."""
        return {
            "captions": self.captions,
            "nouns": self.nouns,
            "metrics": {score.name: score.as_dict() for score in (self.accuracy, self.inside)},
            "chance": self.chance,
            "center": self.center,
        }


def phrase_tokens(words: Sequence[int], phrase: tuple[int, int]) -> tuple[int, int]:
    """The tokens of a phrase: its first, and the one after its last.

    words: the word that each token belongs to, -1 for none.
    phrase: its first word, and the one after its last.
    Raises ValueError when no token belongs to it.
    """
    tokens = [at for at, word in enumerate(words) if phrase[0] <= word < phrase[1]]
    if not tokens:
        raise ValueError(f"no token belongs to the words {phrase[0]} to {phrase[1] - 1}")
    return tokens[0], tokens[-1] + 1


def grade_nouns(
    attention: Any, nouns: Sequence[Noun], size: tuple[float, float]
) -> list[PointedNoun]:
    """Grade the nouns of one caption.

    attention: `[tokens, rows, columns]`, nested sequences, an array or a tensor on the CPU.
    size: width and height of the picture, in pixels.
    Raises ValueError for attention of another shape, negative or not finite, for tokens that are
    not there, and for regions outside the picture.
    """
    import numpy as np

    maps = np.asarray(attention, dtype=np.float64)
    if maps.ndim != 3 or not maps.size:
        raise ValueError(f"attention is [tokens, rows, columns], not of shape {maps.shape}")
    if not np.isfinite(maps).all() or (maps < 0).any():
        raise ValueError("attention holds weights that are negative or not finite")
    return [_grade(maps, noun, size) for noun in nouns]


def grade_pointing(captions: Sequence[Sequence[PointedNoun]], *, resamples: int = 0) -> Pointing:
    """Add up the nouns of all captions: every noun counts the same.

    resamples: bootstrap resamples of the captions for intervals of 95 %; 0 = none.
    Raises UserError when there is no noun.
    """
    nouns = [noun for caption in captions for noun in caption]
    count = len(nouns)
    if not count:
        raise UserError("no noun to grade attention by: give captions whose nouns have regions")

    def score(name: str, values: Sequence[Sequence[float]]) -> Score:
        interval = None
        if resamples:
            counts = [(sum(each), len(each)) for each in values]
            interval = bootstrap_interval(counts, _percent, resamples=resamples)
        total = sum(map(sum, values))
        return Score(name, 100 * total / count, None, "higher", interval)

    return Pointing(
        score("pointing_accuracy", [[noun.hit for noun in caption] for caption in captions]),
        score("attention_inside", [[noun.inside for noun in caption] for caption in captions]),
        100 * sum(noun.chance for noun in nouns) / count,
        100 * sum(noun.center for noun in nouns) / count,
        count,
        len(captions),
    )


def _grade(maps: "NDArray[Any]", noun: Noun, size: tuple[float, float]) -> PointedNoun:
    first, after = noun.tokens
    if not 0 <= first < after <= len(maps):
        raise ValueError(f"tokens {first} to {after - 1} of a caption of {len(maps)}")
    heights = maps[first:after].sum(0)
    rows, columns = heights.shape
    inside = cells_inside(noun.region, rows, columns, size)
    total = heights.sum()
    return PointedNoun(
        float(inside[heights == heights.max()].mean()),
        float(heights[inside].sum() / total) if total else 0.0,
        float(inside.mean()),
        float(middle_is_inside(noun.region, size)),
    )


def _percent(sums: Sequence[float]) -> float:
    total, count = sums
    return 100 * total / count if count else 0.0
