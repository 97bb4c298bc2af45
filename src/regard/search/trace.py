"""What search did, step by step, and how hypotheses are read off it at the end.

Each step keeps what it chose (tokens and the parents they continue) and the attention that the
decoder gave. Nothing is copied per hypothesis until the ones to return are known; these are then
followed back from their last token, all together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

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


@dataclass(frozen=True)
class _Record:
    """One step. slots: where each sentence of the batch was among those still searched."""

    slots: Int[Tensor, "batch"]
    tokens: Int[Tensor, "sentences count"]
    parents: Int[Tensor, "sentences count"]
    log_probabilities: Float[Tensor, "sentences count"]
    attention: Float[Tensor, "sentences width source"] | None


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
        attention: Float[Tensor, "rows source"] | None,
    ) -> None:
        """Keep a step of the sentences still searched, each with as many rows as went in."""
        if self._sentences is sentences:
            slots = self._records[-1].slots
        else:
            slots = sentences.new_zeros(self._batch)
            slots[sentences] = torch.arange(len(sentences), device=sentences.device)
        self._sentences = sentences
        if attention is not None:
            attention = attention.unflatten(0, (len(sentences), -1))
        self._records.append(_Record(slots, tokens, parents, log_probabilities, attention))

    def hypotheses(
        self, ends: Ends, lengths: Int[Tensor, "batch"], length_penalty: float
    ) -> list[Hypothesis]:
        """The hypotheses with these ends, in their order; attention cut to `lengths` positions."""
        tokens, log_probabilities, attention = self._follow(ends)
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
            looked = None if attention is None else attention[number, :steps, :length].clone()
            found.append(
                Hypothesis(
                    tokens=tuple(ids[:steps]),
                    score=score,
                    normalized_score=normalized_score,
                    ended=ended,
                    log_probabilities=tuple(gains[:steps]),
                    attention=looked,
                )
            )
        return found

    def _follow(
        self, ends: Ends
    ) -> tuple[
        Int[Tensor, "hypotheses steps"],
        Float[Tensor, "hypotheses steps"],
        Float[Tensor, "hypotheses steps source"] | None,
    ]:
        """From the last step to the first; what lies after a hypothesis's end means nothing."""
        places = ends.places
        tokens, log_probabilities, attention = [], [], []
        for step in range(len(self._records), 0, -1):
            record = self._records[step - 1]
            slots = record.slots[ends.sentences]
            parents = record.parents[slots, places]
            tokens.append(record.tokens[slots, places])
            log_probabilities.append(record.log_probabilities[slots, places])
            if record.attention is not None:
                attention.append(record.attention[slots, parents])
            places = torch.where(ends.steps >= step, parents, places)
        if not tokens:
            nothing = ends.places.new_zeros(len(ends.places), 0)
            return nothing, nothing.double(), None
        looked = torch.stack(attention[::-1], dim=1) if attention else None
        if looked is not None and looked.dtype not in (torch.float32, torch.float64):
            looked = looked.float()
        return (
            torch.stack(tokens[::-1], dim=1),
            torch.stack(log_probabilities[::-1], dim=1),
            None if looked is None else looked.cpu(),
        )
