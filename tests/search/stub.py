"""A decoder small enough to know everything about: what follows depends on the whole prefix.

The next-token distribution is a row of a fixed random table, found by a running hash of the
sentence and of every token read since the start. A search that mixes up its rows, once, walks on
in the wrong places of the table and is found out.
"""

from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.search.configuration import SearchConfiguration
from regard.search.hypothesis import END, NEVER_EMITTED, START

PLACES = 1009


@dataclass(frozen=True)
class StubMemory:
    keys: Int[Tensor, "sentences"]
    width: int = 6

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True)
class StubState:
    keys: Int[Tensor, "rows"]
    hashes: Int[Tensor, "rows"]
    width: int
    calls: list[str]
    ponders: bool = True

    @property
    def pondering(self) -> Float[Tensor, "rows 2"] | None:
        return stub_pondering(self.hashes) if self.ponders else None

    def select(self, indices: Int[Tensor, "chosen"]) -> "StubState":
        self.calls.append("select")
        return replace(self, keys=self.keys[indices], hashes=self.hashes[indices])

    def reorder(self, indices: Int[Tensor, "rows"]) -> "StubState":
        self.calls.append("reorder")
        assert len(indices) == len(self.keys), "reorder keeps the number of rows"
        assert torch.equal(self.keys[indices], self.keys), "reorder keeps each row's source"
        return replace(self, hashes=self.hashes[indices])


@dataclass(frozen=True)
class StubStep:
    log_probabilities: Float[Tensor, "rows vocabulary"]
    state: StubState
    attention: Float[Tensor, "rows source"] | None


@dataclass
class StubDecoder:
    """table: [PLACES, vocabulary] log-probabilities. rows, calls: what search asked, in order."""

    table: Float[Tensor, "places vocabulary"]
    with_attention: bool = True
    rows: list[int] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    copies: bool = False

    def start(self, memory: StubMemory) -> StubState:
        assert len(memory) > 0, "an empty batch never reaches the decoder"
        hashes = memory.keys * 17 % PLACES
        return StubState(memory.keys, hashes, memory.width, self.calls, self.with_attention)

    def step(self, tokens: Int[Tensor, "rows"], state: StubState) -> StubStep:
        assert tokens.shape == state.keys.shape
        self.rows.append(len(tokens))
        hashes = (state.hashes * 31 + tokens + 1) % PLACES
        attention = stub_attention(hashes, state.width) if self.with_attention else None
        return StubStep(self.table[hashes], replace(state, hashes=hashes), attention)

    def read(self, key: int, prefix: tuple[int, ...]) -> int:
        """The place in the table after the start symbol and these tokens."""
        place = key * 17 % PLACES
        for token in (START, *prefix):
            place = (place * 31 + token + 1) % PLACES
        return place

    def score(self, key: int, tokens: tuple[int, ...]) -> float:
        """Natural-log probability of these tokens, by the definition."""
        return sum(
            float(self.table[self.read(key, tokens[:place]), token])
            for place, token in enumerate(tokens)
        )


def stub_attention(hashes: Int[Tensor, "rows"], width: int) -> Float[Tensor, "rows source"]:
    """Weights that tell every prefix apart; the same first columns for any width."""
    return torch.sin(hashes.unsqueeze(1) * torch.arange(1.0, width + 1)) ** 2


def stub_pondering(hashes: Int[Tensor, "rows"]) -> Float[Tensor, "rows 2"]:
    """Steps from 1 to 7, and a cost that tells every prefix apart."""
    return torch.stack([hashes % 7 + 1, hashes / PLACES], dim=1)


def stub_decoder(
    vocabulary: int = 8, seed: int = 0, end: float = 0.0, spread: float = 1.0
) -> StubDecoder:
    """Random logits of that spread, `end` added to the end symbol's. The specials that must never
    be emitted get high ones, so that they would be if they could."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(PLACES, vocabulary, generator=generator) * spread
    logits[:, list(NEVER_EMITTED)] += 1.0
    logits[:, END] += end
    return StubDecoder(torch.log_softmax(logits, dim=-1))


@dataclass(frozen=True)
class PrefixState:
    prefixes: tuple[tuple[int, ...], ...]
    pondering = None

    def select(self, indices: Int[Tensor, "chosen"]) -> "PrefixState":
        return PrefixState(tuple(self.prefixes[index] for index in indices.tolist()))

    def reorder(self, indices: Int[Tensor, "rows"]) -> "PrefixState":
        return self.select(indices)


@dataclass(frozen=True)
class Fixed:
    """Unlisted tokens and prefixes have probability 0."""

    rows: dict[tuple[int, ...], dict[int, float]]
    vocabulary: int

    def start(self, memory: Int[Tensor, "sentences"]) -> PrefixState:
        return PrefixState(((),) * len(memory))

    def step(self, tokens: Int[Tensor, "rows"], state: PrefixState) -> StubStep:
        prefixes = tuple(
            (*prefix, token) for prefix, token in zip(state.prefixes, tokens.tolist(), strict=True)
        )
        probabilities = torch.zeros(len(prefixes), self.vocabulary, dtype=torch.float64)
        for row, prefix in enumerate(prefixes):
            for token, probability in self.rows.get(prefix[1:], {}).items():
                probabilities[row, token] = probability
        return StubStep(probabilities.log(), PrefixState(prefixes), None)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Found:
    """A hypothesis as plain search code has it."""

    tokens: tuple[int, ...]
    score: float
    normalized: float
    ended: bool


def limit_of(length: int, configuration: SearchConfiguration) -> int:
    ratio, extra = configuration.maximum_length_ratio, configuration.maximum_length_extra
    return max(int(ratio * length) + extra, configuration.minimum_length + 1)


def plain_beam(
    decoder: StubDecoder, key: int, limit: int, configuration: SearchConfiguration, beam: int
) -> list[Found]:
    """All that a beam search finds which never stops before the limit: lists and sorting only.

    With a beam as wide as the tree this is full enumeration.
    """
    live: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    ended: list[Found] = []
    for step in range(1, limit + 1):
        candidates = []
        for prefix, score in live:
            row = decoder.table[decoder.read(key, prefix)].tolist()
            for token, gain in enumerate(row):
                early = token == END and step <= configuration.minimum_length
                if token not in NEVER_EMITTED and not early and gain > -torch.inf:
                    candidates.append(((*prefix, token), score + gain))
        candidates.sort(key=lambda candidate: -candidate[1])
        kept = candidates[:beam]
        penalty = step**configuration.length_penalty
        ended += [Found(t, s, s / penalty, True) for t, s in kept if t[-1] == END]
        live = [(tokens, score) for tokens, score in kept if tokens[-1] != END]
    ended.sort(key=lambda found: -found.normalized)
    penalty = limit**configuration.length_penalty
    return ended + [Found(tokens, score, score / penalty, False) for tokens, score in live]
