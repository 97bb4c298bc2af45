"""What a picture of attention is made from."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from regard.views.seen_image import SeenImage

if TYPE_CHECKING:
    from regard.evaluation.attention_stack import AttentionStack

_TOLERANCE = 1e-3  # weights summed in half precision may pass 1 by a little
_OF_SOURCE = ("source_steps", "source_ponder", "source_words")  # one for each token
_OF_OUTPUT = ("probabilities", "steps", "ponder", "words", "next_best")


@dataclass(frozen=True)
class AttentionView:
    """One output, the source it attended to, and how much.

    source, text: the two texts as a person reads them.
    source_tokens, tokens: what the model read and wrote; end symbols are listed.
    attention: `[tokens][source tokens]`, weights from 0 to 1 (nested sequences or an array).
    score: natural-log probability of `tokens`, where it is known.
    alignment: pairs of 0-based indices of whitespace-separated words, source first.
    title: a heading; none when empty.
    probabilities: of each token given those before it, from 0 to 1, where they are known.
    source_steps, steps: how many steps a model took over each source token, and to write each
        token, where these are adaptive. source_ponder, ponder: what they cost (N + R).
    shown: in words, which attention `attention` is.
    stacks: every layer and head of each kind of attention, for those who look further; left_out:
        the kinds that were too much to keep.
    source_words, words: the whitespace-separated word of its text that each token belongs to, -1
        for none, where that is known.
    next_best: of each token, the most probable others with their probabilities, best first.
    image: the picture that was looked at, where it was one: source tokens are the cells of its
        grid, row by row, and `source` is its name.
    opens_at: layer and head (None: the mean over its heads), from 1, that a page shows at first.

    Sequences of any kind are taken and kept as tuples. Raises ValueError when the attention has
    not a row a token and a weight a source token, or a value is outside 0 to 1; where there is not
    one probability, number of steps, word or list of others for each token; or where a stack has
    matrices of another shape.
    """

    source: str
    text: str
    source_tokens: tuple[str, ...]
    tokens: tuple[str, ...]
    attention: tuple[tuple[float, ...], ...]
    score: float | None = None
    alignment: tuple[tuple[int, int], ...] = ()
    title: str = ""
    probabilities: tuple[float, ...] | None = None
    source_steps: tuple[float, ...] | None = None
    source_ponder: tuple[float, ...] | None = None
    steps: tuple[float, ...] | None = None
    ponder: tuple[float, ...] | None = None
    shown: str = ""
    stacks: tuple["AttentionStack", ...] = ()
    left_out: tuple[str, ...] = ()
    source_words: tuple[int, ...] | None = None
    words: tuple[int, ...] | None = None
    next_best: tuple[tuple[tuple[str, float], ...], ...] | None = None
    image: SeenImage | None = None
    opens_at: tuple[int, int | None] | None = None

    def __post_init__(self) -> None:
        self._keep("source_tokens", tuple(self.source_tokens))
        self._keep("tokens", tuple(self.tokens))
        self._keep("attention", tuple(_numbers(row, "weight") for row in self.attention))
        self._keep("alignment", tuple((int(i), int(j)) for i, j in self.alignment))
        if self.score is not None:
            self._keep("score", float(self.score))
        if self.probabilities is not None:
            self._keep("probabilities", _numbers(self.probabilities, "probability"))
        for field in (*_OF_SOURCE, *_OF_OUTPUT[1:]):
            if getattr(self, field) is not None:
                self._keep(field, tuple(getattr(self, field)))
        self._check_shape()

    def _keep(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _check_shape(self) -> None:
        if len(self.attention) != len(self.tokens):
            raise ValueError(
                f"attention has {len(self.attention)} rows for {len(self.tokens)} tokens"
            )
        for index, row in enumerate(self.attention):
            if len(row) != len(self.source_tokens):
                raise ValueError(
                    f"row {index} of attention has {len(row)} weights for "
                    f"{len(self.source_tokens)} source tokens"
                )
        for field in _OF_OUTPUT:
            self._check_length(field, self.tokens, "tokens")
        for field in _OF_SOURCE:
            self._check_length(field, self.source_tokens, "source tokens")
        self._check_words(self.source_words, self.source, "source word")
        self._check_words(self.words, self.text, "word")
        for stack in self.stacks:
            self._check_stack(stack)
        if self.image is not None and self.source_tokens != self.image.cell_names():
            raise ValueError(
                f"source tokens of an image of {self.image.rows} by {self.image.columns} cells "
                "should be its cell_names()"
            )

    def _check_length(self, field: str, tokens: tuple[str, ...], what: str) -> None:
        given = getattr(self, field)
        if given is not None and len(given) != len(tokens):
            raise ValueError(f"{len(given)} {field} for {len(tokens)} {what}")

    def _check_words(self, words: tuple[int, ...] | None, text: str, what: str) -> None:
        there = len(text.split())
        for word in words or ():
            if not -1 <= word < there:
                raise ValueError(f"{what} {word} of a text of {there} words")

    def _check_stack(self, stack: "AttentionStack") -> None:
        source, output = len(self.source_tokens), len(self.tokens)
        kinds = {
            "cross": (output, source),
            "encoder": (source, source),
            "decoder": (output, output),
        }
        shape = kinds[stack.kind]
        if stack.weights.ndim != 4 or stack.weights.shape[2:] != shape:
            raise ValueError(
                f"{stack.kind} weights of shape {list(stack.weights.shape)} should be "
                f"[layers, heads, {shape[0]}, {shape[1]}]"
            )


def _numbers(values: Iterable[float], what: str) -> tuple[float, ...]:
    """Floats from 0 to 1, what rounding adds cut off. Raises ValueError for anything else."""
    numbers = tuple(float(value) for value in values)
    for number in numbers:
        if not isfinite(number) or not -_TOLERANCE <= number <= 1 + _TOLERANCE:
            raise ValueError(f"a {what} must be from 0 to 1, not {number}")
    return tuple(min(max(number, 0.0), 1.0) for number in numbers)
