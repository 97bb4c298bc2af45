"""The finished hypotheses of each sentence, the best first, in as many places as are wanted."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.trace import Ends


@dataclass(frozen=True)
class Pool:
    """Immutable; places that are still free come last, with -inf for both scores.

    steps, places: where in the search the hypothesis ended (`trace.Ends`).
    ended: False for one that the length limit cut; these come after all that ended.
    """

    normalized: Float[Tensor, "sentences size"]
    scores: Float[Tensor, "sentences size"]
    steps: Int[Tensor, "sentences size"]
    places: Int[Tensor, "sentences size"]
    ended: Bool[Tensor, "sentences size"]

    @staticmethod
    def empty(sentences: int, size: int, device: torch.device) -> "Pool":
        steps = torch.zeros(sentences, size, dtype=torch.long, device=device)
        nothing = torch.full_like(steps, -torch.inf, dtype=torch.float64)
        return Pool(nothing, nothing, steps, steps, steps.bool())

    def worst(self) -> Float[Tensor, "sentences"]:
        """Normalized score to beat for a place; -inf while one is free."""
        return self.normalized[:, -1]

    def add(self, other: "Pool") -> "Pool":
        """The best of both by normalized score; equal ones in the order given, self first."""
        both = self._beside(other)
        order = both.normalized.sort(dim=1, descending=True, stable=True).indices
        return both._pick(order[:, : self.normalized.shape[1]])

    def fill(self, other: "Pool") -> "Pool":
        """Free places taken by those of `other`, in their order."""
        both = self._beside(other)
        order = (both.scores == -torch.inf).long().sort(dim=1, stable=True).indices
        return both._pick(order[:, : self.normalized.shape[1]])

    def select(self, indices: Int[Tensor, "chosen"]) -> "Pool":
        """The pools of those sentences."""
        return Pool(
            self.normalized[indices],
            self.scores[indices],
            self.steps[indices],
            self.places[indices],
            self.ended[indices],
        )

    def ends(self, sentences: Int[Tensor, "sentences"]) -> Ends:
        """All hypotheses here, free places left out, sentence after sentence, best first."""
        taken = self.scores > -torch.inf
        return Ends(
            sentences.unsqueeze(1).expand_as(taken)[taken],
            self.steps[taken],
            self.places[taken],
            self.scores[taken],
            self.ended[taken],
        )

    def _beside(self, other: "Pool") -> "Pool":
        return Pool(
            torch.cat([self.normalized, other.normalized], dim=1),
            torch.cat([self.scores, other.scores], dim=1),
            torch.cat([self.steps, other.steps], dim=1),
            torch.cat([self.places, other.places], dim=1),
            torch.cat([self.ended, other.ended], dim=1),
        )

    def _pick(self, order: Int[Tensor, "sentences size"]) -> "Pool":
        return Pool(
            self.normalized.gather(1, order),
            self.scores.gather(1, order),
            self.steps.gather(1, order),
            self.places.gather(1, order),
            self.ended.gather(1, order),
        )
