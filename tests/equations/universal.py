"""Dehghani et al. 2019 and Graves 2016: one vector at a time, in numpy float64."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from regard.models import Model

from .recurrent import Array, affine, array, log_softmax
from .transformer import decoder_layer, encoder_layer, layer_norm

Layer = Callable[[list[Array]], list[Array]]
Halt = Callable[[Array], float]


def coordinate(pos: int, step: int, size: int) -> Array:
    """P^t of eq. 6 and 7: position and step from 1."""
    row = np.zeros(size)
    for k in range(size):
        wave = math.cos if k % 2 else math.sin
        scale = 10000 ** ((k - k % 2) / size)
        row[k] = wave(pos / scale) + wave(step / scale)
    return row


def fixed(layer: Layer, states: list[Array], steps: int) -> list[Array]:
    """H^T."""
    for t in range(1, steps + 1):
        states = layer([h + coordinate(i, t, len(h)) for i, h in enumerate(states, start=1)])
    return states


def graves(
    layer: Layer, states: list[Array], most: int, halt: Halt, epsilon: float
) -> tuple[list[Array], list[int], list[float]]:
    """Outputs, N and R of every position; the state of one that has halted is copied on."""
    count = len(states)
    outputs = [np.zeros_like(h) for h in states]
    before, taken, rest = [0.0] * count, [0] * count, [0.0] * count
    halted = [False] * count
    for t in range(1, most + 1):
        made = layer([h + coordinate(i, t, len(h)) for i, h in enumerate(states, start=1)])
        states = [old if done else new for old, new, done in zip(states, made, halted, strict=True)]
        for i in range(count):
            if halted[i]:
                continue
            h = halt(states[i])
            taken[i] = t
            if before[i] + h >= 1 - epsilon or t == most:
                rest[i], halted[i] = 1 - before[i], True
                outputs[i] = outputs[i] + rest[i] * states[i]
            else:
                before[i] += h
                outputs[i] = outputs[i] + h * states[i]
    return outputs, taken, rest


def released(
    layer: Layer, states: list[Array], most: int, halt: Halt, threshold: float
) -> tuple[list[Array], list[int], list[float]]:
    """The authors' code: halting is of what a step reads; outputs are mixed with those before."""
    count = len(states)
    outputs = [np.zeros_like(h) for h in states]
    before, taken, rest = [0.0] * count, [0] * count, [0.0] * count
    running = [True] * count
    for t in range(1, most + 1):
        read = [h + coordinate(i, t, len(h)) for i, h in enumerate(states, start=1)]
        states = layer(read)
        for i in range(count):
            if not running[i]:
                continue
            p = halt(read[i])
            taken[i] += 1
            weight = p
            if before[i] + p > threshold:
                weight, running[i] = 1 - before[i], False
                rest[i] = weight
            else:
                before[i] += p
            outputs[i] = weight * states[i] + (1 - weight) * outputs[i]
    return outputs, taken, rest


WAYS = {"graves": graves, "tensor2tensor": released}


def stack(part: Any, layer: Layer, states: list[Array], adaptive: str) -> tuple[list[Array], Any]:
    """All steps of an encoder or decoder, and N and R where they are adaptive."""
    recurrence = part.recurrence
    if adaptive == "none":
        return fixed(layer, states, recurrence.steps), None
    unit, epsilon = recurrence.halting.linear, recurrence.halting.epsilon

    def halt(state: Array) -> float:
        return float(1 / (1 + math.exp(-affine(unit, state)[0])))

    bound = epsilon if adaptive == "graves" else 1 - epsilon
    outputs, taken, rest = WAYS[adaptive](layer, states, recurrence.steps, halt, bound)
    return outputs, (taken, rest)


def universal_transformer(
    model: Model, source: Sequence[int], inputs: Sequence[int], norm: str, adaptive: str
) -> tuple[Array, Any, Any]:
    """log p [steps, vocabulary], and N and R of both sides."""
    from_source, from_target = (
        array(each.weight) * each.scale for each in (model.source_embedding, model.target_embedding)
    )

    def encode(states: list[Array]) -> list[Array]:
        return encoder_layer(model.encoder.layer, states, norm, "relu")

    xs, read = stack(model.encoder, encode, [from_source[word] for word in source], adaptive)
    if norm == "pre":
        xs = [layer_norm(model.encoder.norm, x) for x in xs]

    def decode(states: list[Array]) -> list[Array]:
        return decoder_layer(model.decoder.layer, states, xs, norm, "relu")[0]

    ys, written = stack(model.decoder, decode, [from_target[word] for word in inputs], adaptive)
    if norm == "pre":
        ys = [layer_norm(model.decoder.norm, y) for y in ys]
    return np.array([log_softmax(affine(model.output, y)) for y in ys]), read, written
