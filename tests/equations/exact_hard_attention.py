"""Hard attention by its definition: every alignment written out, summed as probabilities, numpy.

Wu, Shapiro & Cotterell 2018, section 3; Wu & Cotterell 2019, sections 2 and 3. With a_i the source
position that step i reads, k_0 the first position,

    p(y_1..y_n | x) = sum over a_1..a_n of prod_i p(a_i | a_{i-1}, y_<i, x) p(y_i | a_i, y_<i, x)

so a sentence of S positions and n steps has S^n of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from regard.models import Model

from .luong import Score, score
from .recurrent import Array, affine, array, deeper, encode, first_states, log_softmax


@dataclass(frozen=True)
class Parts:
    """Of one sentence: move[i][k, j] = p(a_i = j | a_{i-1} = k), emit[i][j] = p(y_i | a_i = j)."""

    move: list[Array]
    emit: list[Array]

    def path(self, positions: Sequence[int], tokens: Sequence[int]) -> float:
        """prod_i p(a_i | a_{i-1}) p(y_i | a_i) of one alignment."""
        probability, before = 1.0, 0
        for i, (position, token) in enumerate(zip(positions, tokens, strict=True)):
            probability *= self.move[i][before, position] * self.emit[i][position, token]
            before = position
        return probability

    def likelihood(self, tokens: Sequence[int]) -> float:
        """p(y | x): all alignments."""
        ways = product(range(len(self.emit[0])), repeat=len(tokens))
        return sum(self.path(positions, tokens) for positions in ways)

    def posteriors(self, tokens: Sequence[int]) -> Array:
        """p(a_i = j | y, x) of every step: the share of all alignments with a_i = j."""
        positions = len(self.emit[0])
        shares = np.zeros((len(tokens), positions))
        for way in product(range(positions), repeat=len(tokens)):
            shares[range(len(tokens)), way] += self.path(way, tokens)
        return shares / shares.sum(1, keepdims=True)

    def prior(self, tokens: Sequence[int]) -> Array:
        """p(a_n = j | y_<n, x) of the step after these tokens."""
        positions = len(self.emit[0])
        shares = np.zeros(positions)
        for earlier in product(range(positions), repeat=len(tokens)):
            last = earlier[-1] if earlier else 0
            shares += self.path(earlier, tokens) * self.move[len(tokens)][last]
        return shares / shares.sum()


def parts(model: Model, source: Sequence[int], inputs: Sequence[int]) -> Parts:
    """States, transitions and emissions of one sentence without padding."""
    decoder = model.decoder
    reading = encode(model, source)
    states = first_states(model, reading)
    embedding = array(model.target_embedding.weight)
    move, emit = [], []
    for token in inputs:
        states = deeper(list(decoder.cells), states, embedding[token])
        s = states[-1][0]
        move.append(transitions(model, s, reading.h))
        emit.append(
            np.exp([log_softmax(affine(model.output, t)) for t in read(model, s, reading.h)])
        )
    return Parts(move, emit)


def read(model: Model, s: Array, hs: Sequence[Array]) -> list[Array]:
    """tanh(S [s_i; h_j]) of every position: S has a part for each."""
    of_state, of_source = model.decoder.state_readout, model.decoder.source_readout
    joined = np.concatenate([array(of_state.weight), array(of_source.weight)], axis=1)
    return [np.tanh(joined @ np.concatenate([s, h]) + array(of_state.bias)) for h in hs]


def transitions(model: Model, s: Array, hs: Sequence[Array]) -> Array:
    """p(a_i = j | a_{i-1} = k), row k."""
    decoder = model.decoder
    if decoder.attention is None:
        return jumps(model, s, hs)
    f = scores(model)
    e = np.array([f(s, h) for h in hs])
    rows = np.zeros((len(hs), len(hs)))
    for k in range(len(hs)):
        first = k if decoder.monotonic else 0
        rows[k, first:] = np.exp(log_softmax(e[first:]))
    return rows


def scores(model: Model) -> Score:
    """The score of the model's attention, between a state and a position."""
    attention = model.decoder.attention
    kind = {"AdditiveScore": "concat", "GeneralScore": "general", "DotScore": "dot"}
    return score(attention, kind[type(attention.score).__name__])


def jumps(model: Model, s: Array, hs: Sequence[Array]) -> Array:
    """softmax(U [s_i; h_k]) over the distances that stay in the sentence."""
    of_state, of_source = model.decoder.state_jump, model.decoder.source_jump
    joined = np.concatenate([array(of_state.weight), array(of_source.weight)], axis=1)
    rows = np.zeros((len(hs), len(hs)))
    for k, h in enumerate(hs):
        logits = joined @ np.concatenate([s, h]) + array(of_state.bias)
        distances = np.arange(len(logits)) - model.decoder.backward
        inside = (k + distances >= 0) & (k + distances < len(hs))
        rows[k, k + distances[inside]] = np.exp(log_softmax(logits[inside]))
    return rows


def hard_attention(
    model: Model, source: Sequence[int], inputs: Sequence[int]
) -> tuple[Array, Array]:
    """log p(y_i | y_<i, x) [steps, vocabulary] and p(a_i | y_<i, x) [steps, source]."""
    found = parts(model, source, inputs)
    rows, priors = [], []
    for i in range(len(inputs)):
        came = list(inputs[1 : i + 1])
        joint = [found.likelihood([*came, token]) for token in range(found.emit[0].shape[1])]
        rows.append(np.log(joint) - np.log(found.likelihood(came)))
        priors.append(found.prior(came))
    return np.array(rows), np.array(priors)
