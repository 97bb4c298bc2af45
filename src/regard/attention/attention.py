"""The attention call: every mechanism behind one signature."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention.functional import masked_softmax, weighted_sum
from regard.attention.masks import check_mask, combine_masks
from regard.attention.memory import Memory
from regard.attention.scores import SCORES, AdditiveScore, DotScore, GeneralScore

PROJECTIONS = ("query", "key", "value", "output")


class Attended(NamedTuple):
    """What attention gives: always two things, the second None unless asked for."""

    context: Float[Tensor, "batch queries size"]
    weights: Float[Tensor, "batch heads queries positions"] | None


class Attention(nn.Module):
    """Score, softmax, weighted sum; any score with any number of heads.

    ``scaled_dot`` with projections and several heads is multi-head attention (Vaswani et al. 2017,
    section 3.2.2; EQUATIONS B5). ``additive`` with one head and the value unprojected is Bahdanau's
    (A5): the query projection is ``W_a``, the key projection ``U_a``. ``dot``, ``general`` and
    ``concat`` are Luong's (A7).

    Args:
        query_size, key_size, value_size: sizes of the inputs; key defaults to query, value to key.
        score: ``dot``, ``scaled_dot``, ``general``, ``additive`` or ``concat``.
        heads: how many; every projected (or unprojected) size must divide by it.
        hidden_size: size of projected queries and keys over all heads (default ``query_size``).
        output_size: size of the projected output (default ``query_size``).
        project: True, False, or names out of query, key, value, output. Default: all of them for
            several heads, none for one; ``additive`` and ``concat`` always project query and key.
        dropout: probability on the weights, in training only, after the returned copy.
        bias: whether projections have a bias (never those of ``additive`` and ``concat``).
    """

    def __init__(
        self,
        query_size: int,
        key_size: int | None = None,
        value_size: int | None = None,
        *,
        score: str = "scaled_dot",
        heads: int = 1,
        hidden_size: int | None = None,
        output_size: int | None = None,
        project: bool | Collection[str] | None = None,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if score not in SCORES:
            raise ValueError(f"score {score!r} is none of {', '.join(SCORES)}")
        self.heads = heads
        self.dropout = dropout
        self.query_size = query_size
        self.key_size = query_size if key_size is None else key_size
        self.value_size = self.key_size if value_size is None else value_size
        hidden = query_size if hidden_size is None else hidden_size
        names = _projections(project, score, heads)
        plain = score in ("additive", "concat")
        inner_bias = bias and not plain
        self.query_projection = _linear("query" in names, query_size, hidden, inner_bias)
        self.key_projection = _linear("key" in names, self.key_size, hidden, inner_bias)
        self.value_projection = _linear("value" in names, self.value_size, hidden, bias)
        query_heads = _per_head("query", hidden if "query" in names else query_size, heads)
        key_heads = _per_head("key", hidden if "key" in names else self.key_size, heads)
        inner_value = hidden if "value" in names else self.value_size
        _per_head("value", inner_value, heads)
        self.output_projection = _linear(
            "output" in names, inner_value, output_size or query_size, bias
        )
        self.context_size = (output_size or query_size) if "output" in names else inner_value
        if score in ("dot", "scaled_dot", "additive", "concat") and query_heads != key_heads:
            raise ValueError(
                f"score {score!r} needs queries and keys of one size per head, "
                f"not {query_heads} and {key_heads}: project them, or use score='general'"
            )
        self.score: DotScore | GeneralScore | AdditiveScore
        if plain:
            self.score = AdditiveScore(heads, query_heads)
        elif score == "general":
            self.score = GeneralScore(heads, query_heads, key_heads)
        else:
            self.score = DotScore(query_heads, scaled=score == "scaled_dot")

    def prepare(
        self,
        key: Float[Tensor, "batch positions key_size"] | Memory,
        value: Float[Tensor, "batch positions value_size"] | None = None,
        key_mask: Bool[Tensor, "batch positions"] | None = None,
    ) -> Memory:
        """Project keys and values once; attend over the result at every step.

        What stands at positions that ``key_mask`` hides is replaced by zeros, so that junk and NaN
        there never reach a result or a gradient.
        """
        if isinstance(key, Memory):
            if value is not None or key_mask is not None:
                raise ValueError("a memory carries its own value and key_mask")
            return self.prepare(key.key, key.value, key.key_mask)
        value = key if value is None else value
        self._check("key", key, self.key_size)
        self._check("value", value, self.value_size)
        _same_positions("value", value.shape[:2], key)
        check_mask("key_mask", key_mask)
        if key_mask is not None:
            _same_positions("key_mask", key_mask.shape, key)
            hidden = ~key_mask[:, :, None]
            same = value is key
            key = key.masked_fill(hidden, 0.0)
            value = key if same else value.masked_fill(hidden, 0.0)
        keys = self._split(key if self.key_projection is None else self.key_projection(key))
        values = value if self.value_projection is None else self.value_projection(value)
        derived = self.score.derive(keys) if isinstance(self.score, AdditiveScore) else ()
        return Memory(keys, self._split(values), key_mask, derived, prepared=True)

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
        need_weights: bool = False,
    ) -> Attended:
        """Attend from every query.

        Args:
            query: ``[batch, queries, query_size]``.
            key: keys, or a memory (prepared or not); left out, the query attends to itself.
            value: values; left out, the keys.
            mask: boolean, broadcasts to ``[batch, heads, queries, positions]``.
            key_mask: boolean ``[batch, positions]``, True = real.
            bias: additive scores, broadcast like ``mask``.
            causal: query i sees positions up to ``i + positions - queries``; ANDed with all masks.
            need_weights: also return weights ``[batch, heads, queries, positions]``.

        Raises:
            TypeError: a mask that is not boolean. ValueError: sizes that do not fit.
        """
        self._check("query", query, self.query_size)
        if isinstance(key, Memory) and key.prepared:
            memory = key
            if value is not None or key_mask is not None:
                raise ValueError("a memory carries its own value and key_mask")
        else:
            memory = self.prepare(query if key is None else key, value, key_mask)
        if memory.batch != query.shape[0]:
            raise ValueError(f"{query.shape[0]} rows of queries over {memory.batch} of memory")
        projected = query if self.query_projection is None else self.query_projection(query)
        queries = self._split(projected)
        if need_weights or bias is not None or isinstance(self.score, AdditiveScore):
            context, weights = self._explicit(queries, memory, mask, bias, causal, need_weights)
        else:
            context, weights = self._fused(queries, memory, mask, causal), None
        joined = context.transpose(1, 2).flatten(2)
        return Attended(
            joined if self.output_projection is None else self.output_projection(joined), weights
        )

    def _explicit(
        self,
        queries: Tensor,
        memory: Memory,
        mask: Tensor | None,
        bias: Tensor | None,
        causal: bool,
        need_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """Score, masked softmax, weighted sum, each by its own function."""
        scores = self.score(queries, memory.key, memory.derived)
        if bias is not None:
            scores = scores + bias
        allowed = combine_masks(
            mask, memory.key_mask, causal, queries.shape[2], memory.positions, queries.device
        )
        weights = masked_softmax(scores, allowed).to(memory.value.dtype)
        used = F.dropout(weights, self.dropout, self.training) if self.dropout else weights
        return weighted_sum(used, memory.value), weights if need_weights else None

    def _fused(self, queries: Tensor, memory: Memory, mask: Tensor | None, causal: bool) -> Tensor:
        """The same through PyTorch's kernel, which never makes the weights."""
        assert not isinstance(self.score, AdditiveScore)
        length = queries.shape[2]
        alone = causal and mask is None and memory.key_mask is None and length == memory.positions
        allowed = None
        if not alone:
            # One query at the end of its cache sees everything: causal adds nothing.
            bottom = causal and length > 1
            allowed = combine_masks(
                mask, memory.key_mask, bottom, length, memory.positions, queries.device
            )
        context = F.scaled_dot_product_attention(
            self.score.transform(queries),
            memory.key,
            memory.value,
            attn_mask=allowed,
            is_causal=alone and length > 1,
            dropout_p=self.dropout if self.training else 0.0,
            scale=self.score.scale,
        )
        if allowed is None:
            return context
        # Rows with nothing to attend to: PyTorch's kernels disagree among themselves.
        return torch.where(allowed.any(-1, keepdim=True), context, 0.0)

    def _split(self, tensor: Float[Tensor, "batch n size"]) -> Float[Tensor, "batch heads n part"]:
        return tensor.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _check(self, name: str, tensor: Tensor, size: int) -> None:
        if tensor.dim() != 3 or tensor.shape[-1] != size:
            raise ValueError(f"{name} must be [batch, positions, {size}], not {list(tensor.shape)}")


def _projections(project: bool | Collection[str] | None, score: str, heads: int) -> set[str]:
    if project is None:
        project = heads > 1
    if isinstance(project, bool):
        names = set(PROJECTIONS) if project else set()
    else:
        names = set(project)
        if unknown := names - set(PROJECTIONS):
            raise ValueError(f"project: {sorted(unknown)} is none of {', '.join(PROJECTIONS)}")
    return names | {"query", "key"} if score in ("additive", "concat") else names


def _linear(wanted: bool, inputs: int, outputs: int, bias: bool) -> nn.Linear | None:
    """A projection with Glorot's uniform weights and a zero bias, each matrix on its own."""
    if not wanted:
        return None
    linear = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(linear.weight)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


def _same_positions(name: str, shape: torch.Size, key: Tensor) -> None:
    if shape != key.shape[:2]:
        raise ValueError(
            f"{name} of {list(shape)} does not fit keys of {list(key.shape[:2])}: "
            "both are [batch, positions]"
        )


def _per_head(name: str, size: int, heads: int) -> int:
    if size % heads:
        raise ValueError(f"{name} size {size} does not divide into {heads} heads")
    return size // heads
