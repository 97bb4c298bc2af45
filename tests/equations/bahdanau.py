"""Bahdanau, Cho & Bengio 2015, appendix A: the decoder, word by word, in numpy float64."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.models import Model

from .recurrent import Array, affine, array, encode, gates, log_softmax, sigma


def softmax(e: Array) -> Array:
    """alpha_ij = exp(e_ij) / sum_k exp(e_ik), over the source positions k."""
    exponentials = np.exp(e - e.max())
    shares: Array = exponentials / exponentials.sum()
    return shares


def additive(query_matrix: Array, key_matrix: Array, v_a: Array, s: Array, h: Array) -> float:
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j)."""
    return float(v_a @ np.tanh(query_matrix @ s + key_matrix @ h))


def attend(attention: Any, s: Array, hs: Sequence[Array]) -> tuple[Array, Array]:
    """c_i = sum_j alpha_ij h_j, and alpha_i."""
    w_a = array(attention.query_projection.weight)
    u_a = array(attention.key_projection.weight)
    v_a = array(attention.score.v_a)[0]
    alpha = softmax(np.array([additive(w_a, u_a, v_a, s, h) for h in hs]))
    c = np.zeros_like(hs[0])
    for j, h in enumerate(hs):
        c = c + alpha[j] * h
    return c, alpha


def decoder_step(model: Model, embedded: Array, s: Array, c: Array) -> Array:
    """s_i: appendix A.2.2's gates with W on E y_{i-1}, U on s_{i-1}, C on c_i."""
    parts = []
    for gate in gates(model.decoder.cells.first()):
        on_word = gate.W[:, : len(embedded)]
        on_context = gate.W[:, len(embedded) :]
        parts.append((on_word, gate.U, on_context, gate.b))
    (w_r, u_r, c_r, b_r), (w_z, u_z, c_z, b_z), (w, u, c_s, b) = parts
    r = sigma(w_r @ embedded + u_r @ s + c_r @ c + b_r)
    z = sigma(w_z @ embedded + u_z @ s + c_z @ c + b_z)
    new = np.tanh(w @ embedded + u @ (r * s) + c_s @ c + b)
    return (1.0 - z) * s + z * new


def deep_output(model: Model, s: Array, embedded: Array, c: Array) -> Array:
    """log p(y_i): t~ = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i, maxout of neighbours, W_o t."""
    joined = array(model.decoder.readout.linear.weight)
    u_o, v_o, c_o = np.split(joined, [len(s), len(s) + len(embedded)], axis=1)
    bias = array(model.decoder.readout.linear.bias)
    t_tilde = u_o @ s + v_o @ embedded + c_o @ c + bias
    t = [max(t_tilde[2 * k], t_tilde[2 * k + 1]) for k in range(len(t_tilde) // 2)]
    return log_softmax(affine(model.output, np.array(t)))


def rnnsearch(
    model: Model, source: Sequence[int], inputs: Sequence[int]
) -> tuple[Array, Array, list[Array]]:
    """log p [steps, vocabulary], alpha [steps, source], and s_0, s_1, ... of one sentence."""
    reading = encode(model, source)
    backward_first = reading.final[0][1][0]
    s = np.tanh(affine(model.decoder.start_layers.projections.first(), backward_first))
    embedding = array(model.target_embedding.weight)
    states, rows, alphas = [s], [], []
    for token in inputs:
        embedded = embedding[token]
        c, alpha = attend(model.decoder.attention, s, reading.h)
        rows.append(deep_output(model, s, embedded, c))  # of s_{i-1}
        s = decoder_step(model, embedded, s, c)
        states.append(s)
        alphas.append(alpha)
    return np.array(rows), np.array(alphas), states
