"""What a picture of attention is made from."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite

_TOLERANCE = 1e-3  # weights summed in half precision may pass 1 by a little


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

    Sequences of any kind are taken and kept as tuples. Raises ValueError when the attention has
    not a row a token and a weight a source token, or a value is outside 0 to 1; or where there is
    not one probability or number of steps for each token.
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

    def __post_init__(self) -> None:
        self._keep("source_tokens", tuple(self.source_tokens))
        self._keep("tokens", tuple(self.tokens))
        self._keep("attention", tuple(_numbers(row, "weight") for row in self.attention))
        self._keep("alignment", tuple((int(i), int(j)) for i, j in self.alignment))
        if self.score is not None:
            self._keep("score", float(self.score))
        if self.probabilities is not None:
            self._keep("probabilities", _numbers(self.probabilities, "probability"))
        for field in ("source_steps", "source_ponder", "steps", "ponder"):
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
        for field in ("probabilities", "steps", "ponder"):
            self._check_length(field, self.tokens, "tokens")
        for field in ("source_steps", "source_ponder"):
            self._check_length(field, self.source_tokens, "source tokens")

    def _check_length(self, field: str, tokens: tuple[str, ...], what: str) -> None:
        given = getattr(self, field)
        if given is not None and len(given) != len(tokens):
            raise ValueError(f"{len(given)} {field} for {len(tokens)} {what}")


def _numbers(values: Iterable[float], what: str) -> tuple[float, ...]:
    """Floats from 0 to 1, what rounding adds cut off. Raises ValueError for anything else."""
    numbers = tuple(float(value) for value in values)
    for number in numbers:
        if not isfinite(number) or not -_TOLERANCE <= number <= 1 + _TOLERANCE:
            raise ValueError(f"a {what} must be from 0 to 1, not {number}")
    return tuple(min(max(number, 0.0), 1.0) for number in numbers)
