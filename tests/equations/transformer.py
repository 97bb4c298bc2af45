"""Vaswani et al. 2017, section 3: one vector at a time, in numpy float64."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from regard.attention import Attention
from regard.models import Model

from .bahdanau import softmax
from .recurrent import Array, affine, array, log_softmax

Sublayer = Callable[[list[Array]], list[Array]]


def position(pos: int, size: int) -> Array:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d))."""
    row = np.zeros(size)
    for k in range(size):
        angle = pos / 10000 ** ((k - k % 2) / size)
        row[k] = math.cos(angle) if k % 2 else math.sin(angle)
    return row


def attention(
    queries: Sequence[Array],
    keys: Sequence[Array],
    values: Sequence[Array],
    *,
    scale: float | None = None,
    causal: bool = False,
) -> tuple[list[Array], Array]:
    """softmax(Q K^T / sqrt(d_k)) V, and the weights; position i of a causal one sees j <= i."""
    scale = 1.0 / math.sqrt(len(queries[0])) if scale is None else scale
    contexts, weights = [], np.zeros((len(queries), len(keys)))
    for i, q in enumerate(queries):
        seen = i + 1 if causal else len(keys)
        weights[i, :seen] = softmax(np.array([scale * (q @ keys[j]) for j in range(seen)]))
        contexts.append(sum(weights[i, j] * values[j] for j in range(seen)))
    return contexts, weights


def multi_head(
    layer: Attention, queries: Sequence[Array], memory: Sequence[Array], *, causal: bool = False
) -> tuple[list[Array], Array]:
    """Concat(head_1, ..., head_h) W^O, head = Attention(Q W^Q, K W^K, V W^V); weights [h, i, j]."""
    q = [affine(layer.query_projection, x) for x in queries]
    k = [affine(layer.key_projection, x) for x in memory]
    v = [affine(layer.value_projection, x) for x in memory]
    part = len(q[0]) // layer.heads
    heads = []
    for number in range(layer.heads):
        some = slice(number * part, (number + 1) * part)
        heads.append(
            attention(
                [x[some] for x in q], [x[some] for x in k], [x[some] for x in v], causal=causal
            )
        )
    joined = [np.concatenate([head[0][i] for head in heads]) for i in range(len(queries))]
    weights = np.stack([head[1] for head in heads])
    return [affine(layer.output_projection, x) for x in joined], weights


def layer_norm(norm: Any, x: Array) -> Array:
    """g * (x - mean) / sqrt(variance + epsilon) + b (Ba et al. 2016)."""
    mean = sum(x) / len(x)
    variance = sum((x - mean) ** 2) / len(x)
    normed = (x - mean) / math.sqrt(variance + norm.eps)
    scaled: Array = array(norm.weight) * normed + array(norm.bias)
    return scaled


def feed_forward(layer: Any, x: Array, activation: str = "relu") -> Array:
    """max(0, x W_1 + b_1) W_2 + b_2; or GELU, x Phi(x) (Hendrycks & Gimpel 2016).

    Or (swish(x W_1 + b_1) * (x V + b_V)) W_2 + b_2, swish(z) = z sigma(z) (Shazeer 2020).
    """
    hidden = affine(layer.inner, x)
    if activation == "swiglu":
        read, gate = hidden[: len(hidden) // 2], hidden[len(hidden) // 2 :]
        hidden = np.array([z / (1.0 + math.exp(-z)) for z in read]) * gate
    elif activation == "relu":
        hidden = np.maximum(0.0, hidden)
    else:
        hidden = np.array([z * 0.5 * (1.0 + math.erf(z / math.sqrt(2.0))) for z in hidden])
    return affine(layer.outer, hidden)


def residual(around: Any, xs: list[Array], sublayer: Sublayer, norm: str) -> list[Array]:
    """Post-norm LayerNorm(x + sublayer(x)); pre-norm x + sublayer(LayerNorm(x))."""
    its_norm = around.norm
    if norm == "post":
        outputs = sublayer(xs)
        return [layer_norm(its_norm, x + o) for x, o in zip(xs, outputs, strict=True)]
    outputs = sublayer([layer_norm(its_norm, x) for x in xs])
    return [x + o for x, o in zip(xs, outputs, strict=True)]


def encoder_layer(layer: Any, xs: list[Array], norm: str, activation: str) -> list[Array]:
    """Self-attention, then feed-forward."""
    attend, network = layer.attention, layer.feed_forward
    first, second = layer.attention_residual, layer.feed_forward_residual
    xs = residual(first, xs, lambda read: multi_head(attend, read, read)[0], norm)
    return residual(
        second, xs, lambda read: [feed_forward(network, x, activation) for x in read], norm
    )


def decoder_layer(
    layer: Any, ys: list[Array], source: list[Array], norm: str, activation: str
) -> tuple[list[Array], Array]:
    """Masked self-attention, attention over the encoder's output, feed-forward; its weights."""
    back, cross = layer.self_attention, layer.cross_attention
    network = layer.feed_forward
    weights = []

    def over(read: list[Array]) -> list[Array]:
        contexts, shares = multi_head(cross, read, source)
        weights.append(shares)
        return contexts

    residuals = (layer.self_residual, layer.cross_residual, layer.feed_forward_residual)
    ys = residual(residuals[0], ys, lambda read: multi_head(back, read, read, causal=True)[0], norm)
    ys = residual(residuals[1], ys, over, norm)
    ys = residual(
        residuals[2], ys, lambda read: [feed_forward(network, y, activation) for y in read], norm
    )
    return ys, weights[0]


def transformer(
    model: Model, source: Sequence[int], inputs: Sequence[int], norm: str, activation: str
) -> tuple[Array, list[Array]]:
    """log p [steps, vocabulary] and each decoder layer's weights [heads, steps, source]."""
    size = model.encoder.size
    scale = model.source_embedding.scale
    from_source = array(model.source_embedding.weight) * scale
    from_target = array(model.target_embedding.weight) * scale
    xs = [from_source[word] + position(i, size) for i, word in enumerate(source)]
    for layer in model.encoder.layers:
        xs = encoder_layer(layer, xs, norm, activation)
    if norm == "pre":
        xs = [layer_norm(model.encoder.norm, x) for x in xs]
    ys = [from_target[word] + position(i, size) for i, word in enumerate(inputs)]
    shown = []
    for layer in model.decoder.layers:
        ys, weights = decoder_layer(layer, ys, xs, norm, activation)
        shown.append(weights)
    if norm == "pre":
        ys = [layer_norm(model.decoder.norm, y) for y in ys]
    return np.array([log_softmax(affine(model.output, y)) for y in ys]), shown
