"""A beam search as a tree: every hypothesis that was kept, and the best of those that were not.

`beam_search` tells an `Observer` of every step; without one it does nothing more than ever. The
recorder here makes plain nodes of what it is told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol

from jaxtyping import Float, Int
from torch import Tensor

from regard.search.candidates import Candidates, best_candidates
from regard.search.hypothesis import END, START
from regard.search.length import normalize

#: What became of a hypothesis: others that continue it were kept; it wrote the end symbol; it had
#: no place in the beam; none of its continuations had one; it was there when the search ended.
Fate = Literal["continued", "finished", "pruned", "abandoned", "open"]


@dataclass(frozen=True)
class Node:
    """A hypothesis, by its last token.

    token: its id; START for the root.
    parent: the number of the node that it continues; -1 for the root.
    step: how many tokens it has, the end symbol included.
    score: natural-log probability of all of them; log_probability: of the last one.
    normalized_score: what answers are ranked by.
    fate: what became of it; last_step: at which step, the one that decided.
    """

    token: int
    parent: int
    step: int
    score: float
    log_probability: float
    normalized_score: float
    fate: Fate
    last_step: int


@dataclass(frozen=True)
class SearchTree:
    """Nodes in the order of steps, the better first at each; the root is node 0."""

    nodes: tuple[Node, ...]

    def tokens(self, node: int) -> tuple[int, ...]:
        """The ids of a hypothesis, from its first token on."""
        found: list[int] = []
        while node > 0:
            found.append(self.nodes[node].token)
            node = self.nodes[node].parent
        return tuple(reversed(found))

    def answers(self) -> list[int]:
        """The finished hypotheses, best first; then those that the end of the search cut."""
        ends = {"finished": 0, "open": 1}
        found = [i for i, node in enumerate(self.nodes) if node.fate in ends]
        return sorted(
            found, key=lambda i: (ends[self.nodes[i].fate], -self.nodes[i].normalized_score)
        )


class Seen(NamedTuple):
    """What a step of a beam search decided.

    sentences: which of the batch are still searched; log_probabilities, scores: of the hypotheses
    that went into the step, and of what may follow; kept: the continuations that have a place in
    the beam; banned: tokens that may not follow.
    """

    step: int
    sentences: Int[Tensor, " sentences"]
    log_probabilities: Float[Tensor, "rows vocabulary"]
    scores: Float[Tensor, "sentences width"]
    kept: Candidates
    banned: tuple[int, ...]


class Observer(Protocol):
    """Whoever is told of the steps of a search."""

    def see(self, seen: Seen) -> None: ...


class TreeRecorder:
    """Makes a tree of each sentence's search.

    Args:
        pruned: how many hypotheses that had no place to keep at every step, the best ones.
        length_penalty: that of the search, for normalized scores.
    """

    def __init__(self, pruned: int, length_penalty: float) -> None:
        self.pruned = pruned
        self.length_penalty = length_penalty
        self._nodes: dict[int, list[Node]] = {}
        self._places: dict[int, list[int]] = {}  # the nodes of those still going, -1 = none

    def tree(self, sentence: int) -> SearchTree:
        """The search of a sentence of the batch."""
        return SearchTree(tuple(self._nodes[sentence]))

    def see(self, seen: Seen) -> None:
        """Note the candidates of a step."""
        beam = seen.kept.tokens.shape[1]
        wider = best_candidates(
            seen.log_probabilities, seen.scores, beam + self.pruned, seen.banned
        )
        normalized = normalize(
            wider.scores, wider.tokens.new_full(wider.tokens.shape, seen.step), self.length_penalty
        )
        rows = zip(
            seen.sentences.tolist(),
            wider.tokens.tolist(),
            wider.parents.tolist(),
            wider.scores.tolist(),
            wider.log_probabilities.tolist(),
            normalized.tolist(),
            strict=True,
        )
        for sentence, *columns in rows:
            self._add(sentence, seen.step, beam, list(zip(*columns, strict=True)))

    def _add(
        self,
        sentence: int,
        step: int,
        beam: int,
        candidates: list[tuple[int, int, float, float, float]],
    ) -> None:
        root = Node(START, -1, 0, 0.0, 0.0, 0.0, "open", 0)
        nodes = self._nodes.setdefault(sentence, [root])
        before = self._places.get(sentence, [0])
        places = [-1] * beam
        continued: set[int] = set()
        for rank, (token, parent, score, gain, normalized) in enumerate(candidates):
            if score == float("-inf"):
                break
            fate: Fate = "pruned" if rank >= beam else "finished" if token == END else "open"
            if fate == "open":
                places[rank] = len(nodes)
            if fate != "pruned":
                continued.add(before[parent])
            nodes.append(Node(token, before[parent], step, score, gain, normalized, fate, step))
        for node in before:
            if node >= 0 and continued:
                fate = "continued" if node in continued else "abandoned"
                nodes[node] = replace(nodes[node], fate=fate, last_step=step)
        self._places[sentence] = places
