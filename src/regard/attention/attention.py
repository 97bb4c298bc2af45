"""The attention call: every mechanism behind one signature."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from regard.attention.attended import Attended, Sampled
from regard.attention.functional import weighted_sum
from regard.attention.masks import and_masks, check_bias, check_mask
from regard.attention.memory import Memory
from regard.attention.parts import Parts, split_heads
from regard.attention.positions.places import check_positions, query_places
from regard.attention.reading import (
    Reading,
    fused_context,
    log_weights_from,
    masked_scores,
    weights_from,
)
from regard.attention.scores import DotScore, GeneralScore
from regard.attention.selection import (
    best,
    chosen_log_probability,
    chosen_value,
    draw,
    entropy,
)
from regard.attention.windows import local_places, sliding_window


class Attention(Parts):
    """Score, softmax, weighted sum; any score with any number of heads.

    ``scaled_dot`` with projections and several heads is multi-head attention (Vaswani et al. 2017,
    section 3.2.2; EQUATIONS B5). ``additive`` with one head and the value unprojected is Bahdanau's
    (A5): the query projection is ``W_a``, the key projection ``U_a``. ``dot``, ``general``,
    ``concat`` and ``location`` are Luong's (A7, A17).

    All of it can be compiled into one graph and exported with lengths left open, but: what hard
    attention draws in training is not the same compiled and not; coverage goes from query to
    query, so a graph of it is for as many queries as it was made with.

    Args:
        query_size, key_size, value_size: sizes of the inputs; key defaults to query, value to key.
        score: ``dot``, ``scaled_dot``, ``general``, ``additive``, ``concat`` or ``location``.
        heads: how many; every projected (or unprojected) size must divide by it.
        key_heads: heads of keys and values, each shared by ``heads / key_heads`` queries: grouped
            queries, or with 1 multi-query attention. The dot family only; default ``heads``.
        hidden_size: size of projected queries over all heads (default ``query_size``); keys and
            values have as much for each of their heads.
        output_size: size of the projected output (default ``query_size``).
        project: True, False, or names out of query, key, value, output. Default: all of them for
            several heads, none for one; ``additive`` and ``concat`` always project query and key.
        dropout: probability on the weights, in training only, after the returned copy.
        bias: whether projections have a bias (never those of ``additive`` and ``concat``).
        select: ``soft`` (softmax), ``hard`` (one position: drawn in training, the best in use),
            ``sparsemax`` or ``entmax`` (alpha 1.5).
        position_scheme: ``rotary``, ``alibi``, ``relative``, or a module of those kinds.
        window: sliding window: this many positions to each side of the query, or (before, after).
        local: ``monotonic`` or ``predictive``: Luong's local attention (A17).
        local_width: its D, positions to each side.
        gate: multiply the context by ``beta = sigmoid(f_beta(query))`` (A11).
        coverage: ``additive`` and ``concat`` also see how much each key was attended to before.
        maximum_positions: of ``location``, which needs it.
    """

    def forward(
        self,
        query: Float[Tensor, "batch queries query_size"],
        key: Float[Tensor, "batch positions key_size"] | Memory | None = None,
        value: Float[Tensor, "batch positions value_size"] | None = None,
        *,
        mask: Bool[Tensor, ...] | None = None,
        key_mask: Bool[Tensor, "batch positions"] | None = None,
        bias: Float[Tensor, ...] | None = None,
        causal: bool = False,
        positions: Int[Tensor, "*rows queries"] | None = None,
        coverage: Float[Tensor, "batch heads positions"] | None = None,
        need_weights: bool | Literal["log"] = False,
        expectation: bool = False,
    ) -> Attended:
        """Attend from every query.

        Args:
            query: ``[batch, queries, query_size]``.
            key: keys, or a memory (prepared or not); left out, the query attends to itself (as it
                does where the query is given again).
            value: values; left out, the keys.
            mask: boolean, broadcasts to ``[batch, heads, queries, positions]``.
            key_mask: boolean ``[batch, positions]``, True = real.
            bias: additive scores, broadcast like ``mask``; minus infinity hides.
            causal: query i sees positions up to ``i + positions - queries``; ANDed with all masks.
            positions: where the queries stand, ``[queries]`` or ``[batch, queries]``, for whatever
                knows positions (and the keys too, in self-attention). Default: the last places of
                the keys if ``causal`` or without ``key``; else 0, 1, 2, ...
            coverage: how much each key was attended to before these queries; default not at all.
                After them it is ``coverage + weights.sum(2)``.
            need_weights: also return weights ``[batch, heads, queries, positions]``. ``"log"``:
                their natural logarithms, never through the weights themselves, in at least float32;
                each row a distribution (local-p's too), minus infinity where nothing is attended.
            expectation: of hard attention: the mean over all positions in place of a single one.

        Raises:
            TypeError: a mask that is not boolean, a bias that is not real.
            ValueError: sizes that do not fit.
        """
        if coverage is not None and not self.covers:
            raise ValueError("coverage= is for an attention made with coverage=True")
        reading = self._read(query, key, value, mask, key_mask, bias, causal, positions)
        context, shown = self._weigh(reading, coverage, need_weights, expectation)
        return Attended(self._finish(query, context), shown)

    def over(
        self,
        queries: Float[Tensor, "batch queries size"],
        memory: Memory,
        *,
        causal: bool = False,
        itself: bool = False,
        need_weights: bool | Literal["log"] = False,
    ) -> Attended:
        """What the call does between the projections: from projected queries to joined heads.

        For a caller who projects several inputs, or the context, together with something else.

        Args:
            memory: prepared.
            itself: whether the memory is of the same positions as the queries.
        """
        if self.gate is not None or self.local is not None:
            raise ValueError("gate and local attention read the query before it is projected")
        reading = self._gather(queries, queries, memory, None, None, causal, None, itself)
        context, shown = self._weigh(reading, None, need_weights)
        return Attended(context.transpose(1, 2).flatten(2), shown)

    def _weigh(
        self,
        reading: Reading,
        coverage: Tensor | None,
        need_weights: bool | Literal["log"],
        expectation: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Contexts of each head, and weights or their logarithms if asked for."""
        dropout = self.dropout if self.training else 0.0
        fused = None if need_weights else self._fused_score(reading)
        if fused is not None:
            return fused_context(reading, fused, dropout), None
        scores, allowed = masked_scores(reading, self.score, self.selection, coverage)
        weights = weights_from(scores, allowed, reading.factor, self.selection)
        weights = weights.to(reading.memory.value.dtype)
        shown = weights if need_weights else None
        if need_weights == "log":
            shown = log_weights_from(scores, allowed, reading.factor, self.selection)
        if self.selection == "hard" and not expectation:
            chosen = draw(weights) if self.training else best(weights)
            return chosen_value(weights, reading.memory.value, chosen), shown
        used = F.dropout(weights, dropout) if dropout else weights
        return weighted_sum(used, reading.memory.value), shown

    def sample(
        self,
        query: Float[Tensor, "batch queries query_size"],
        key: Float[Tensor, "batch positions key_size"] | Memory | None = None,
        value: Float[Tensor, "batch positions value_size"] | None = None,
        *,
        mask: Bool[Tensor, ...] | None = None,
        key_mask: Bool[Tensor, "batch positions"] | None = None,
        bias: Float[Tensor, ...] | None = None,
        causal: bool = False,
        positions: Int[Tensor, "*rows queries"] | None = None,
        coverage: Float[Tensor, "batch heads positions"] | None = None,
        generator: torch.Generator | None = None,
    ) -> Sampled:
        """Draw one position for every query and head, in training and in use alike.

        Xu et al. 2015, section 4.1 (EQUATIONS A12). No gradient passes through the draw itself: it
        reaches the scores through ``log_probability`` and ``entropy``, the drawn value through
        ``context``. Where there is nothing to attend to, all are 0. Arguments as of the call.
        """
        if coverage is not None and not self.covers:
            raise ValueError("coverage= is for an attention made with coverage=True")
        reading = self._read(query, key, value, mask, key_mask, bias, causal, positions)
        scores, allowed = masked_scores(reading, self.score, self.selection, coverage)
        log_weights = log_weights_from(scores, allowed, reading.factor, self.selection)
        weights = log_weights.exp()
        chosen = draw(weights, generator)
        context = chosen_value(weights, reading.memory.value, chosen)
        return Sampled(
            self._finish(query, context),
            weights.to(reading.memory.value.dtype),
            chosen_log_probability(log_weights, chosen),
            entropy(log_weights),
        )

    def _read(
        self,
        query: Tensor,
        key: Tensor | Memory | None,
        value: Tensor | None,
        mask: Tensor | None,
        key_mask: Tensor | None,
        bias: Tensor | None,
        causal: bool,
        positions: Tensor | None,
    ) -> Reading:
        """Check and project what came, and gather all that weighs on the scores."""
        self._check("query", query, self.query_size)
        positions = check_positions(positions, *query.shape[:2])
        itself = key is None or key is query
        if isinstance(key, Memory) and key.prepared:
            memory = key
            if value is not None or key_mask is not None:
                raise ValueError("a memory carries its own value and key_mask")
        else:
            places = positions if itself else None
            memory = self.prepare(query if key is None else key, value, key_mask, positions=places)
        if memory.batch != query.shape[0]:
            raise ValueError(f"{query.shape[0]} rows of queries over {memory.batch} of memory")
        queries = query if self.query_projection is None else self.query_projection(query)
        return self._gather(query, queries, memory, mask, bias, causal, positions, itself)

    def _gather(
        self,
        query: Tensor,
        queries: Tensor,
        memory: Memory,
        mask: Tensor | None,
        bias: Tensor | None,
        causal: bool,
        positions: Tensor | None,
        itself: bool,
    ) -> Reading:
        """All that weighs on the scores of projected queries."""
        queries = split_heads(queries, self.heads)
        shape = (*queries.shape[:3], memory.positions)
        check_mask("mask", mask, shape)
        check_bias(bias, shape)
        if bias is not None:
            mask = and_masks(mask, bias != float("-inf"))
        if memory.key_mask is not None:
            mask = and_masks(mask, memory.key_mask[:, None, None, :])
        factor = None
        if self.placed:
            keys = memory.places
            last = causal or itself
            places = query_places(positions, keys, query.shape[1], last=last)
            if self.scheme is not None:
                queries = self.scheme.rotate(queries, places)
                bias = _sum(bias, self.scheme.bias(places, keys))
            if self.window is not None:
                mask = and_masks(mask, sliding_window(places, keys, *self.window))
            if self.local is not None:
                real, lengths = local_places(memory)
                places = query_places(positions, real, query.shape[1], last=last)
                near, factor = self.local(query, places, real, lengths)
                mask = and_masks(mask, near)
        return Reading(queries, memory, mask, causal, bias, factor, itself)

    def _finish(self, query: Tensor, context: Tensor) -> Tensor:
        """Join the heads, gate, project."""
        joined = context.transpose(1, 2).flatten(2)
        if self.gate is not None:
            joined = self.gate(query, joined)
        return joined if self.output_projection is None else self.output_projection(joined)

    def _fused_score(self, reading: Reading) -> DotScore | GeneralScore | None:
        """The score, if PyTorch's kernel computes exactly this."""
        if self.selection != "soft" or reading.factor is not None:
            return None
        if not isinstance(self.score, DotScore | GeneralScore):
            return None
        # Biases: theirs keeps no gradient for them, and no precision below float32.
        bias, queries = reading.bias, reading.queries
        precise = queries.dtype in (torch.float32, torch.float64)
        precise = precise and not torch.is_autocast_enabled(queries.device.type)
        fits = bias is None or (precise and not bias.requires_grad)
        return self.score if fits else None


def _sum(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
