"""A decoder that is made to begin with given tokens; any search then goes on from there.

While a prefix lasts, every other token has probability 0, and the forced one keeps the probability
that the model gives it: scores stay the model's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.search.decoder import Decoder
from regard.search.hypothesis import END, NEVER_EMITTED

_FREE = -1


@dataclass(frozen=True)
class PrefixState:
    """The decoder's state, and what its rows are made to write.

    forced: ids, `_FREE` where a row's own prefix is over. step: how many tokens were predicted.
    """

    state: Any
    forced: Int[Tensor, "rows longest"]
    step: int = 0

    @property
    def pondering(self) -> Float[Tensor, "rows 2"] | None:
        """Of the last prediction."""
        pondering: Tensor | None = self.state.pondering
        return pondering

    def select(self, indices: Int[Tensor, " chosen"]) -> PrefixState:
        """Any rows."""
        forced = self.forced.index_select(0, indices)
        return replace(self, state=self.state.select(indices), forced=forced)

    def reorder(self, indices: Int[Tensor, " rows"]) -> PrefixState:
        """Rows that keep their source, and so their prefix."""
        return replace(self, state=self.state.reorder(indices))


class PrefixStep(NamedTuple):
    """What one step gives."""

    log_probabilities: Float[Tensor, "rows vocabulary"]
    state: PrefixState
    attention: Float[Tensor, "rows source"] | None


class PrefixDecoder:
    """A decoder whose outputs begin with ``prefixes``: ids for each sentence, maybe none.

    A prefix as long as the length limit leaves no room for anything else, and a token that the
    model gives no probability at all ends the search before it.

    Raises:
        ValueError: a prefix holds a token that is never written within an output (END too).
    """

    def __init__(
        self, decoder: Decoder, prefixes: Sequence[Sequence[int]], device: torch.device
    ) -> None:
        for prefix in prefixes:
            if not {*NEVER_EMITTED, END}.isdisjoint(prefix):
                raise ValueError(
                    f"a prefix of {list(prefix)}: no output goes on after such a token"
                )
        longest = max(map(len, prefixes), default=0)
        rows = [[*prefix, *[_FREE] * (longest - len(prefix))] for prefix in prefixes]
        self.decoder = decoder
        self.forced = torch.tensor(rows, dtype=torch.long, device=device).view(len(rows), longest)

    def start(self, memory: Any) -> PrefixState:
        """The state before the first token; ``memory`` has a row for each prefix."""
        return PrefixState(self.decoder.start(memory), self.forced)

    def step(self, tokens: Int[Tensor, " rows"], state: PrefixState) -> PrefixStep:
        """Read one token a row; the next one has no choice while its prefix lasts."""
        output = self.decoder.step(tokens, state.state)
        scores = output.log_probabilities
        if state.step < state.forced.shape[1]:
            scores = _forced(scores, state.forced[:, state.step])
        following = replace(state, state=output.state, step=state.step + 1)
        return PrefixStep(scores, following, output.attention)


def _forced(
    scores: Float[Tensor, "rows vocabulary"], tokens: Int[Tensor, " rows"]
) -> Float[Tensor, "rows vocabulary"]:
    """Minus infinity but for each row's token; rows that are free as they are."""
    ids = torch.arange(scores.shape[1], device=scores.device)
    kept = (ids == tokens[:, None]) | (tokens == _FREE)[:, None]
    return scores.masked_fill(~kept, -torch.inf)
