"""Recurrent networks as the papers write them: one sentence, one position, one product at a time.

GRU: Bahdanau et al. 2015, appendix A.1.1. LSTM: Hochreiter & Schmidhuber 1997 with a forget gate,
the form of Show, Attend and Tell without its context. seq2seq: Cho et al. 2014, Sutskever et al.
2014. All in numpy float64; matrices act on column vectors, as in the papers; `b` are biases, which
the papers leave out "to make the equations uncluttered".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from regard.models import Model
from regard.nn.recurrent import GRU, LibraryGRU, RecurrentLayer
from regard.nn.stacking import Stacking

Array = np.ndarray
State = tuple[Array, ...]
Step = Callable[[Array, State], State]


def array(tensor: Tensor) -> Array:
    """A parameter as float64 numbers."""
    numbers: Array = tensor.detach().double().numpy()
    return numbers


def sigma(x: Array) -> Array:
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


def log_softmax(logits: Array) -> Array:
    """log p_k = z_k - log sum_l exp(z_l)."""
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())


@dataclass(frozen=True)
class Gate:
    """What is inside one activation: W x + U h + b."""

    W: Array
    U: Array
    b: Array

    def __call__(self, x: Array, h: Array) -> Array:
        return self.W @ x + self.U @ h + self.b


def gates(layer: RecurrentLayer, direction: int = 0) -> list[Gate]:
    """The gates of one direction of a layer of regard, in the order in which it keeps them."""
    found = []
    for k in range(layer.gates):
        column = (direction * layer.gates + k) * layer.size
        rows = slice(column, column + layer.size)
        recurrent = array(layer.U)[direction][:, k * layer.size : (k + 1) * layer.size]
        found.append(Gate(array(layer.W)[:, rows].T, recurrent.T, array(layer.b)[rows]))
    return found


def gru_step(r_gate: Gate, z_gate: Gate, candidate: Gate, x: Array, h: Array) -> Array:
    """r and z from x_i and h_{i-1}; h~ = tanh(W x + U [r * h]); h_i = (1 - z) h + z h~."""
    r = sigma(r_gate(x, h))
    z = sigma(z_gate(x, h))
    new = np.tanh(candidate(x, r * h))
    return (1.0 - z) * h + z * new


def library_gru_step(
    r_gate: Gate, z_gate: Gate, candidate: Gate, b_U: Array, x: Array, h: Array
) -> Array:
    """torch.nn.GRU: h~ = tanh(W x + b + r * (U h + b_U)); h_i = (1 - z) h~ + z h."""
    r = sigma(r_gate(x, h))
    z = sigma(z_gate(x, h))
    new = np.tanh(candidate.W @ x + candidate.b + r * (candidate.U @ h + b_U))
    return (1.0 - z) * new + z * h


def lstm_step(four: Sequence[Gate], x: Array, h: Array, m: Array) -> tuple[Array, Array]:
    """i, f, o logistic, g tanh; m_i = f * m_{i-1} + i * g; h_i = o * tanh(m_i)."""
    i_gate, f_gate, o_gate, g_gate = four
    i = sigma(i_gate(x, h))
    f = sigma(f_gate(x, h))
    o = sigma(o_gate(x, h))
    g = np.tanh(g_gate(x, h))
    m = f * m + i * g
    return o * np.tanh(m), m


def cell(layer: RecurrentLayer, direction: int = 0) -> Step:
    """One direction of a layer as a function (x_i, state) -> state."""
    parts = gates(layer, direction)
    if isinstance(layer, GRU):
        return lambda x, state: (gru_step(*parts, x, state[0]),)
    if isinstance(layer, LibraryGRU):
        b_U = array(layer.b_U).reshape(layer.directions, -1)[direction]
        return lambda x, state: (library_gru_step(*parts, b_U, x, state[0]),)
    return lambda x, state: lstm_step(parts, x, *state)


def zero_state(layer: RecurrentLayer) -> State:
    """The state before the first word."""
    return (np.zeros(layer.size),) * layer.tensors


def read(step: Step, xs: Sequence[Array], state: State) -> list[State]:
    """The state after each position."""
    states = []
    for x in xs:
        state = step(x, state)
        states.append(state)
    return states


def output(stacking: Stacking, number: int, h: Array, x: Array | None) -> Array:
    """What layer `number` gives: h, or a layer norm of it; above the first layer, x added."""
    if stacking.norms:
        norm = list(stacking.norms)[number]
        spread = np.sqrt(((h - h.mean()) ** 2).mean() + norm.eps)
        h = array(norm.weight) * (h - h.mean()) / spread + array(norm.bias)
    return x + h if stacking.residual and number > 0 and x is not None else h


@dataclass(frozen=True)
class Reading:
    """What the last layer gives, h_j; of each layer the final states: of the last word forward,
    and, where there is a second direction, of the first word backward."""

    h: list[Array]
    final: list[list[State]]


def encode(model: Model, source: Sequence[int]) -> Reading:
    """h_j = [forward h_j; backward h_j] of one sentence without padding, layer upon layer."""
    embedding = array(model.source_embedding.weight) * model.source_embedding.scale
    xs = [embedding[word] for word in source]
    final = []
    for number, layer in enumerate(model.encoder.layers):
        forward = read(cell(layer, 0), xs, zero_state(layer))
        ends = [forward[-1]]
        h = [state[0] for state in forward]
        if layer.directions == 2:
            backward = read(cell(layer, 1), xs[::-1], zero_state(layer))[::-1]
            ends.append(backward[0])
            h = [np.concatenate([f[0], b[0]]) for f, b in zip(forward, backward, strict=True)]
        final.append(ends)
        pairs = zip(h, xs, strict=True)
        xs = [output(model.encoder.stacking, number, each, below) for each, below in pairs]
    return Reading(xs, final)


def affine(linear: Any, x: Array) -> Array:
    """W x + b of a torch.nn.Linear; no b where it has none."""
    product: Array = array(linear.weight) @ x
    bias = linear.bias
    return product if bias is None else product + array(bias)


def first_states(model: Model, reading: Reading) -> list[State]:
    """s_0 (and m_0) of every decoder layer: tanh(W [forward h_S; backward h_1])."""
    cells = list(model.decoder.cells)
    projections = iter(model.decoder.start_layers.projections)
    states = []
    for number in range(len(cells)):
        ends = reading.final[number if len(reading.final) == len(cells) else -1]
        parts = []
        for part in range(cells[0].tensors):
            kept = part if part < len(ends[0]) else 0
            joined = np.concatenate([end[kept] for end in ends])
            parts.append(np.tanh(affine(next(projections), joined)))
        states.append(tuple(parts))
    return states


def maxout(readout: Any, s: Array, embedded: Array, c: Array) -> Array:
    """t~ = U_o s + V_o E y + C_o c (one joined matrix); t_k = max(t~_{2k-1}, t~_{2k})."""
    joined = affine(readout.linear, np.concatenate([s, embedded, c]))
    return np.array([max(joined[2 * k], joined[2 * k + 1]) for k in range(len(joined) // 2)])


def deeper(cells: Sequence[RecurrentLayer], states: list[State], x: Array) -> list[State]:
    """All layers move by one step; each reads the hidden state of the one below."""
    moved = []
    for layer, state in zip(cells, states, strict=True):
        state = cell(layer)(x, state)
        moved.append(state)
        x = state[0]
    return moved


def outputs(model: Model, states: list[State], x: Array) -> tuple[list[State], Array]:
    """As `deeper`, with what stands between the layers: new states, and the top layer's output."""
    moved = []
    for number, (layer, state) in enumerate(zip(model.decoder.cells, states, strict=True)):
        state = cell(layer)(x, state)
        moved.append(state)
        x = output(model.decoder.stacking, number, state[0], x if number else None)
    return moved, x


def seq2seq(model: Model, source: Sequence[int], inputs: Sequence[int]) -> Array:
    """log p(y_i) of the model without attention, [steps, vocabulary].

    s_i = RNN(s_{i-1}, [E y_{i-1}; c]) with c = [forward h_S; backward h_1] where it is read at
    every step, maxout of s_i, E y_{i-1} and c.
    """
    reading = encode(model, source)
    states = first_states(model, reading)
    c = np.zeros(0)
    if model.decoder.constant_context:
        c = np.concatenate([end[0] for end in reading.final[-1]])
    embedding = array(model.target_embedding.weight) * model.target_embedding.scale
    rows = []
    for token in inputs:
        states, features = outputs(model, states, np.concatenate([embedding[token], c]))
        if model.decoder.readout is not None:
            features = maxout(model.decoder.readout, features, embedding[token], c)
        rows.append(log_softmax(affine(model.output, features)))
    return np.array(rows)
