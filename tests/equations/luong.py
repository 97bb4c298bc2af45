"""Luong, Pham & Manning 2015, section 3: scores and the attentional decoder, in numpy float64."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from regard.models import Model

from .bahdanau import softmax
from .recurrent import Array, affine, array, deeper, encode, first_states, log_softmax

Score = Callable[[Array, Array], float]


def score(attention: Any, name: str) -> Score:
    """Eq. 8: dot h_t . h_s; general h_t W_a h_s; concat v_a . tanh(W_a [h_t; h_s])."""
    if name == "dot":
        return lambda s, h: float(sum(a * b for a, b in zip(s, h, strict=True)))
    if name == "general":
        w_a = array(attention.score.W_a)[0]
        return lambda s, h: float(s @ w_a @ h)
    assert name == "concat"
    on_state = array(attention.query_projection.weight)
    on_source = array(attention.key_projection.weight)
    w = np.concatenate([on_state, on_source], axis=1)
    v_a = array(attention.score.v_a)[0]
    return lambda s, h: float(v_a @ np.tanh(w @ np.concatenate([s, h])))


def luong(
    model: Model, source: Sequence[int], inputs: Sequence[int], name: str, *, feeding: bool
) -> tuple[Array, Array]:
    """log p [steps, vocabulary] and alpha [steps, source] of one sentence.

    s_i -> a_i -> c_i -> s~_i = tanh(W_c [c_i; s_i]) -> softmax(W_s s~_i), from the new state;
    with input feeding the cell reads [E y_{i-1}; s~_{i-1}].
    """
    reading = encode(model, source)
    states = first_states(model, reading)
    f = score(model.decoder.attention, name)
    embedding = array(model.target_embedding.weight)
    w_c = array(model.decoder.readout.linear.weight)
    fed = np.zeros(len(w_c) if feeding else 0)
    rows, alphas = [], []
    for token in inputs:
        states = deeper(list(model.decoder.cells), states, np.concatenate([embedding[token], fed]))
        s = states[-1][0]
        alpha = softmax(np.array([f(s, h) for h in reading.h]))
        c = sum(alpha[j] * h for j, h in enumerate(reading.h))
        attentional = np.tanh(w_c @ np.concatenate([c, s]))
        rows.append(log_softmax(affine(model.output, attentional)))
        alphas.append(alpha)
        fed = attentional if feeding else fed
    return np.array(rows), np.array(alphas)
