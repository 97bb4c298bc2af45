"""What search did, step by step, and how hypotheses are read off it at the end.

Each step keeps what it chose (tokens and the parents they continue) and what the decoder showed of
it (attention, steps). Nothing is copied per hypothesis until the ones to return are known; these
are then followed back from their last token, all together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.decoder import Step
from regard.search.hypothesis import Hypothesis
from regard.search.length import normalize


@dataclass(frozen=True)
class Ends:
    """Hypotheses by where they ended: on that step, at that place among their sentence's.

    steps: tokens, the end symbol included; 0 for a hypothesis that has none.
    """

    sentences: Int[Tensor, "hypotheses"]
    steps: Int[Tensor, "hypotheses"]
    places: Int[Tensor, "hypotheses"]
    scores: Float[Tensor, "hypotheses"]
    ended: Bool[Tensor, "hypotheses"]

    @staticmethod
    def none(device: torch.device) -> "Ends":
        nothing = torch.zeros(0, dtype=torch.long, device=device)
        return Ends(nothing, nothing, nothing, nothing.double(), nothing.bool())

    @staticmethod
    def join(parts: Sequence["Ends"]) -> "Ends":
        """All of them, in that order."""
        return Ends(
            torch.cat([part.sentences for part in parts]),
            torch.cat([part.steps for part in parts]),
            torch.cat([part.places for part in parts]),
            torch.cat([part.scores for part in parts]),
            torch.cat([part.ended for part in parts]),
        )


class Shown(NamedTuple):
    """What is kept beside the tokens for whoever looks into them, None where there is none."""

    attention: Float[Tensor, "*rows source"] | None = None
    pondering: Float[Tensor, "*rows 2"] | None = None

    @staticmethod
    def by(step: Step, wanted: bool) -> "Shown":
        """What a decoder's step shows, where that is wanted."""
        return Shown(step.attention, step.state.pondering) if wanted else Shown()

    @staticmethod
    def stack(steps: Sequence["Shown"]) -> "Shown":
        """Steps of hypotheses, on the CPU, in at least float32."""
        columns = zip(*steps, strict=True)
        return Shown(*(None if column[0] is None else _stacked(column) for column in columns))

    def by_sentence(self, sentences: int) -> "Shown":
        """Rows as those of each sentence."""
        return self._each(lambda rows: rows.unflatten(0, (sentences, -1)))

    def at(self, slots: Int[Tensor, "hypotheses"], places: Int[Tensor, "hypotheses"]) -> "Shown":
        """The rows at some places among those of their sentences."""
        return self._each(lambda rows: rows[slots, places])

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Shown":
        return Shown(*(None if tensor is None else change(tensor) for tensor in self))


def _stacked(column: Sequence[Tensor]) -> Tensor:
    stacked = torch.stack(list(column), dim=1)
    return stacked.to(torch.promote_types(stacked.dtype, torch.float32)).cpu()


@dataclass(frozen=True)
class _Record:
    """One step. slots: where each sentence of the batch was among those still searched."""

    slots: Int[Tensor, "batch"]
    tokens: Int[Tensor, "sentences count"]
    parents: Int[Tensor, "sentences count"]
    log_probabilities: Float[Tensor, "sentences count"]
    shown: Shown


class Trace:
    """The record of one search over a batch."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self._records: list[_Record] = []
        self._sentences: Tensor | None = None  # of the last step: often the same

    def append(
        self,
        sentences: Int[Tensor, "sentences"],
        tokens: Int[Tensor, "sentences count"],
        parents: Int[Tensor, "sentences count"],
        log_probabilities: Float[Tensor, "sentences count"],
        shown: Shown,
    ) -> None:
        """Keep a step of the sentences still searched, each with as many rows as went in."""
        if self._sentences is sentences:
            slots = self._records[-1].slots
        else:
            slots = sentences.new_zeros(self._batch)
            slots[sentences] = torch.arange(len(sentences), device=sentences.device)
        self._sentences = sentences
        shown = shown.by_sentence(len(sentences))
        self._records.append(_Record(slots, tokens, parents, log_probabilities, shown))

    def hypotheses(
        self, ends: Ends, lengths: Int[Tensor, "batch"], length_penalty: float
    ) -> list[Hypothesis]:
        """The hypotheses with these ends, in their order; attention cut to `lengths` positions."""
        tokens, log_probabilities, (attention, pondering) = self._follow(ends)
        normalized = normalize(ends.scores, ends.steps, length_penalty)
        rows = zip(
            tokens.tolist(),
            log_probabilities.tolist(),
            ends.steps.tolist(),
            ends.scores.tolist(),
            normalized.tolist(),
            ends.ended.tolist(),
            lengths[ends.sentences].tolist(),
            strict=True,
        )
        found = []
        for number, (ids, gains, steps, score, normalized_score, ended, length) in enumerate(rows):
            found.append(
                Hypothesis(
                    tokens=tuple(ids[:steps]),
                    score=score,
                    normalized_score=normalized_score,
                    ended=ended,
                    log_probabilities=tuple(gains[:steps]),
                    attention=_own(attention, number, steps, length),
                    pondering=_own(pondering, number, steps, 2),
                )
            )
        return found

    def _follow(
        self, ends: Ends
    ) -> tuple[
        Int[Tensor, "hypotheses steps"],
        Float[Tensor, "hypotheses steps"],
        Shown,
    ]:
        """From the last step to the first; what lies after a hypothesis's end means nothing."""
        places = ends.places
        tokens, log_probabilities, shown = [], [], []
        for step in range(len(self._records), 0, -1):
            record = self._records[step - 1]
            slots = record.slots[ends.sentences]
            parents = record.parents[slots, places]
            tokens.append(record.tokens[slots, places])
            log_probabilities.append(record.log_probabilities[slots, places])
            shown.append(record.shown.at(slots, parents))
            places = torch.where(ends.steps >= step, parents, places)
        if not tokens:
            nothing = ends.places.new_zeros(len(ends.places), 0)
            return nothing, nothing.double(), Shown()
        return (
            torch.stack(tokens[::-1], dim=1),
            torch.stack(log_probabilities[::-1], dim=1),
            Shown.stack(shown[::-1]),
        )


def _own(shown: Tensor | None, hypothesis: int, steps: int, width: int) -> Tensor | None:
    """A hypothesis's own rows: a copy, so that one that is kept keeps no other."""
    return None if shown is None else shown[hypothesis, :steps, :width].clone()
