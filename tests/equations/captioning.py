"""Xu et al. 2015, section 3.1: the captioning decoder, word by word, in numpy float64."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from regard.models import Model

from .bahdanau import attend
from .recurrent import Array, affine, array, gates, log_softmax, sigma


class Caption(NamedTuple):
    """log p [steps, vocabulary] and alpha [steps, places] of one picture."""

    log_p: Array
    alpha: Array


def mlp(layers: Any, x: Array) -> Array:
    """tanh(W_2 max(0, W_1 x + b_1) + b_2)."""
    first, _, second = layers
    return np.tanh(affine(second, np.maximum(affine(first, x), 0.0)))


def first_state(model: Model, grid: Sequence[Array]) -> tuple[Array, Array]:
    """s_0 and m_0: two networks of the mean of the grid's vectors."""
    mean = sum(grid[1:], grid[0]) / len(grid)
    of_state, of_cell = model.decoder.start_layers.projections
    return mlp(of_state, mean), mlp(of_cell, mean)


def lstm_with_context(
    model: Model, embedded: Array, c: Array, s: Array, m: Array
) -> tuple[Array, Array]:
    """i, f, o = sigma(W E y + U s + Z c), g = tanh(same); m' = f m + i g; s' = o tanh(m')."""
    parts = []
    for gate in gates(model.decoder.cells.first()):
        w, z = gate.W[:, : len(embedded)], gate.W[:, len(embedded) :]
        parts.append(w @ embedded + gate.U @ s + z @ c + gate.b)
    i, f, o = (sigma(part) for part in parts[:3])
    m = f * m + i * np.tanh(parts[3])
    return o * np.tanh(m), m


def deep_output(model: Model, embedded: Array, s: Array, c: Array) -> Array:
    """log softmax(L_o (E y_{i-1} + L_h s_i + L_z c_i)), of the new state."""
    readout = model.decoder.readout
    summed = embedded + affine(readout.L_h, s) + affine(readout.L_z, c)
    return log_softmax(affine(model.output, np.tanh(summed) if readout.squash else summed))


def show_attend_tell(
    model: Model,
    grid: Sequence[Array],
    inputs: Sequence[int],
    *,
    hard: bool = False,
    places: Sequence[int] | None = None,
) -> Caption:
    """beta_i sum_j alpha_ij a_j; hard: beta_i a_l, l the likeliest place; or the places given."""
    s, m = first_state(model, grid)
    embedding = array(model.target_embedding.weight)
    rows, alphas = [], []
    for i, token in enumerate(inputs):
        embedded = embedding[token]
        c, alpha = attend(model.decoder.attention, s, grid)
        c = grid[int(np.argmax(alpha))] if hard else c
        c = c if places is None else grid[places[i]]
        c = float(sigma(affine(model.decoder.attention.gate.f_beta, s))[0]) * c
        s, m = lstm_with_context(model, embedded, c, s, m)
        rows.append(deep_output(model, embedded, s, c))
        alphas.append(alpha)
    return Caption(np.array(rows), np.array(alphas))


def show_tell(model: Model, grid: Sequence[Array], inputs: Sequence[int]) -> Array:
    """h_0 = MLP(features), c = h_0 at every step; nothing is attended to. log p [steps, V]."""
    s, m = first_state(model, grid)
    c = s
    embedding = array(model.target_embedding.weight)
    rows = []
    for token in inputs:
        s, m = lstm_with_context(model, embedding[token], c, s, m)
        rows.append(deep_output(model, embedding[token], s, c))
    return np.array(rows)
