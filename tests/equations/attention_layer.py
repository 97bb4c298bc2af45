"""Attention as a layer: one example, head, query and position at a time, in numpy float64.

Whatever the papers say of a head is said by four functions of the example b, the head h, the query
i and the position j, all counted from 0: a score, whether j is seen at all, what is added to the
score, what the weight is multiplied by. What is not seen is not visited: nothing is masked here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .bahdanau import softmax
from .build import assert_close
from .recurrent import Array, affine, array

Score = Callable[[int, Array, Array], float]  # of the head, its query and its key
Pairs = Callable[[int, int, int, int], float]


@dataclass(frozen=True)
class Rules:
    """What is done with every score; by default nothing."""

    sees: Callable[[int, int, int, int], bool] = lambda b, h, i, j: True
    bias: Pairs = lambda b, h, i, j: 0.0
    factor: Pairs = lambda b, h, i, j: 1.0
    choose: Callable[[Array], Array] = softmax


PLAIN = Rules()


def scaled_dot(h: int, q: Array, k: Array) -> float:
    """q . k / sqrt(d_k): Vaswani et al. 2017, eq. 1."""
    return dot(h, q, k) / math.sqrt(len(q))


def dot(h: int, q: Array, k: Array) -> float:
    """q . k: Luong et al. 2015, eq. 8."""
    assert len(q) == len(k)
    return sum(float(q[n]) * float(k[n]) for n in range(len(q)))


def general(attention: Any) -> Score:
    """q W_a k: Luong et al. 2015, eq. 8."""
    w_a = array(attention.score.W_a)
    return lambda h, q, k: float(q @ w_a[h] @ k)


def additive(attention: Any) -> Score:
    """v_a . tanh(W_a s + U_a h): Bahdanau et al. 2015, A.1.2; both products made already."""
    v_a = array(attention.score.v_a)
    return lambda h, q, k: float(v_a[h] @ np.tanh(q + k))


def score_of(attention: Any, name: str) -> Score:
    """The score of that name, with the parameters of that attention."""
    made = {"general": general, "additive": additive, "concat": additive}
    plain = {"dot": dot, "scaled_dot": scaled_dot}
    return plain[name] if name in plain else made[name](attention)


def part(x: Array, number: int, count: int) -> Array:
    """The numbers of x that belong to one of so many heads."""
    size = len(x) // count
    assert size * count == len(x)
    return x[number * size : (number + 1) * size]


def project(projection: Any, xs: Sequence[Array]) -> list[Array]:
    """x W for every x, or x where there is no projection."""
    return [x if projection is None else affine(projection, x) for x in xs]


def layer(
    attention: Any,
    queries: Sequence[Array],
    keys: Sequence[Array],
    values: Sequence[Array],
    score: Score,
    rules: Rules = PLAIN,
    b: int = 0,
) -> tuple[list[Array], Array]:
    """Concat(head_1, ..., head_h) W^O of one example, and the weights [heads, queries, positions].

    head_h = sum_j alpha_ij v_j W^V, alpha_i = softmax over the j that are seen of the scores of
    (q_i W^Q, k_j W^K). Where groups of heads share keys, head h has those of its group.
    """
    heads, shared = attention.heads, attention.key_heads
    q = project(attention.query_projection, queries)
    k = project(attention.key_projection, keys)
    v = project(attention.value_projection, values)
    weights = np.zeros((heads, len(queries), len(keys)))
    contexts = []
    for i in range(len(queries)):
        joined: list[Array] = []
        for h in range(heads):
            group = h // (heads // shared)
            seen = [j for j in range(len(keys)) if rules.sees(b, h, i, j)]
            e = []
            for j in seen:
                alone = score(h, part(q[i], h, heads), part(k[j], group, shared))
                e.append(alone + rules.bias(b, h, i, j))
            alpha = rules.choose(np.array(e)) if seen else []
            head = np.zeros(len(v[0]) // shared)
            for j, share in zip(seen, alpha, strict=True):
                weights[h, i, j] = share * rules.factor(b, h, i, j)
                head = head + weights[h, i, j] * part(v[j], group, shared)
            joined.append(head)
        contexts.append(np.concatenate(joined))
    return project(attention.output_projection, contexts), weights


def assert_layer(
    attention: Any,
    inputs: Sequence[Tensor],
    score: Score | str,
    rules: Rules = PLAIN,
    lengths: Sequence[int] | None = None,
    **options: Any,
) -> None:
    """Context with and without weights, and weights, are those of the equations.

    Positions past an example's length are hidden by `key_mask` and do not exist for the equations.
    """
    q, k, v = inputs
    if isinstance(score, str):
        score = score_of(attention, score)
    if lengths is not None:
        options["key_mask"] = torch.arange(k.shape[1])[None] < torch.tensor(lengths)[:, None]
    context, weights = attention(q, k, v, need_weights=True, **options)
    fused, none = attention(q, k, v, **options)
    assert none is None
    for b in range(len(q)):
        length = k.shape[1] if lengths is None else lengths[b]
        expected, shares = layer(
            attention, rows(q[b]), rows(k[b])[:length], rows(v[b])[:length], score, rules, b
        )
        assert_close(weights[b, :, :, :length], shares)
        assert_close(context[b], expected)
        assert_close(fused[b], expected)
        assert (weights[b, :, :, length:] == 0).all()


def assert_gradients(attention: Any, inputs: Sequence[Tensor], **options: Any) -> None:
    """Gradients of context (both paths) and weights to inputs and parameters: gradcheck.

    In its fast mode: along random directions of all entries at once.
    """
    names = [name for name, _ in attention.named_parameters()]
    leaves = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    parameters = [p.detach().clone().requires_grad_() for p in attention.parameters()]

    def call(*tensors: Tensor) -> tuple[Tensor, ...]:
        q, k, v, *given = tensors
        state = dict(zip(names, given, strict=True))
        context, weights = torch.func.functional_call(
            attention, state, (q, k, v), {**options, "need_weights": True}
        )
        alone = torch.func.functional_call(attention, state, (q, k, v), options).context
        return context, weights, alone

    tensors = (*leaves, *parameters)
    assert torch.autograd.gradcheck(call, tensors, atol=1e-7, rtol=1e-5, fast_mode=True)


def rows(tensor: Tensor) -> list[Array]:
    """A sequence of vectors."""
    return list(array(tensor))


def random(*shape: int, seed: int = 5) -> Tensor:
    """Numbers from N(0, 1), float64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def inputs_of(
    sizes: tuple[int, int, int], batch: int = 2, queries: int = 3, positions: int = 5
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value of those sizes."""
    query, key, value = sizes
    return (
        random(batch, queries, query),
        random(batch, positions, key, seed=6),
        random(batch, positions, value, seed=7),
    )
