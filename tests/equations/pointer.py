"""See, Liu & Manning 2017, section 2.2, in numpy float64: one step, one word at a time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.models import Model

from .bahdanau import rnnsearch, softmax
from .luong import score
from .recurrent import Array, affine, array, deeper, encode, first_states, log_softmax, sigma
from .transformer import decoder_layer, encoder_layer, layer_norm, position

UNKNOWN = 1


@dataclass(frozen=True)
class Seen:
    """What one step has: p_vocab, the weights, and h*_t, s_t and x_t, which p_gen is made of."""

    p_vocab: Array
    alpha: Array
    context: Array
    state: Array
    embedded: Array


def p_gen(model: Model, seen: Seen) -> float:
    """Eq. 8: ``sigma(w_h* . h*_t + w_s . s_t + w_x . x_t + b_ptr)``."""
    weight = array(model.decoder.generation_gate.linear.weight)[0]
    bias = float(array(model.decoder.generation_gate.linear.bias)[0])
    ends = np.cumsum([len(seen.context), len(seen.state)])
    w_h, w_s, w_x = np.split(weight, ends)
    return float(sigma(w_h @ seen.context + w_s @ seen.state + w_x @ seen.embedded + bias))


def final_distribution(
    generation: float, p_vocab: Array, alpha: Array, words: Sequence[int], width: int
) -> Array:
    """Eq. 9: ``P(w) = p_gen P_vocab(w) + (1 - p_gen) sum_{i: w_i = w} a_i``, for each word of the
    extended vocabulary; those that the vocabulary lacks have no P_vocab.

    words: w_i; a negative one is no word (the end of the source): what is attended to there is
    added to p_gen, so that the sum stays 1.
    """
    generated = generation
    for weight, word in zip(alpha, words, strict=True):
        if word < 0:
            generated += (1 - generation) * weight
    p = np.zeros(width)
    for word in range(width):
        if word < len(p_vocab):
            p[word] += generated * p_vocab[word]
        for weight, copied in zip(alpha, words, strict=True):
            if copied == word:
                p[word] += (1 - generation) * weight
    return p


def known(ids: Sequence[int], size: int) -> list[int]:
    """As an embedding reads them."""
    return [number if number < size else UNKNOWN for number in ids]


def luong_steps(model: Model, source: Sequence[int], inputs: Sequence[int]) -> list[Seen]:
    """A decoder that attends after the cell, without input feeding."""
    reading = encode(model, source)
    states = first_states(model, reading)
    f = score(model.decoder.attention, "general")
    embedding = array(model.target_embedding.weight)
    w_c = array(model.decoder.readout.linear.weight)
    steps = []
    for token in inputs:
        states = deeper(list(model.decoder.cells), states, embedding[token])
        s = states[-1][0]
        alpha = softmax(np.array([f(s, h) for h in reading.h]))
        c = sum(alpha[j] * h for j, h in enumerate(reading.h))
        attentional = np.tanh(w_c @ np.concatenate([c, s]))
        p_vocab = np.exp(log_softmax(affine(model.output, attentional)))
        steps.append(Seen(p_vocab, alpha, c, s, embedding[token]))
    return steps


def bahdanau_steps(model: Model, source: Sequence[int], inputs: Sequence[int]) -> list[Seen]:
    """A decoder that attends before the cell: s_t is the state after it."""
    reading = encode(model, source)
    log_p, alphas, states = rnnsearch(model, source, inputs)
    embedding = array(model.target_embedding.weight)
    steps = []
    for i, token in enumerate(inputs):
        c = sum(alphas[i][j] * h for j, h in enumerate(reading.h))
        steps.append(Seen(np.exp(log_p[i]), alphas[i], c, states[i + 1], embedding[token]))
    return steps


def transformer_steps(model: Model, source: Sequence[int], inputs: Sequence[int]) -> list[Seen]:
    """A Transformer of pre-norm: a_t of the last layer but one, as the mean over its heads; h*_t
    weighs the encoder's last states by it, s_t is the decoder's last state."""
    size = model.encoder.size
    scale = model.target_embedding.scale
    read, written = array(model.source_embedding.weight), array(model.target_embedding.weight)
    hs = [scale * read[word] + position(i, size) for i, word in enumerate(source)]
    for layer in model.encoder.layers:
        hs = encoder_layer(layer, hs, "pre", "relu")
    hs = [layer_norm(model.encoder.norm, h) for h in hs]
    embedded = [scale * written[word] for word in inputs]
    ys = [x + position(i, size) for i, x in enumerate(embedded)]
    shown = []
    for layer in model.decoder.layers:
        ys, weights = decoder_layer(layer, ys, hs, "pre", "relu")
        shown.append(weights)
    steps = []
    for i, y in enumerate(layer_norm(model.decoder.norm, y) for y in ys):
        alpha = shown[-2][:, i].mean(0)
        c = sum(alpha[j] * h for j, h in enumerate(hs))
        p_vocab = np.exp(log_softmax(affine(model.output, y)))
        steps.append(Seen(p_vocab, alpha, c, y, embedded[i]))
    return steps


def pointer(
    model: Model, steps: Sequence[Seen], words: Sequence[int], width: int
) -> tuple[Array, Array]:
    """P [steps, width] and p_gen [steps]."""
    rows, switches = [], []
    for seen in steps:
        generation = p_gen(model, seen)
        assert 0 < generation < 1 and math.isclose(seen.alpha.sum(), 1.0)
        rows.append(final_distribution(generation, seen.p_vocab, seen.alpha, words, width))
        switches.append(generation)
    return np.array(rows), np.array(switches)
