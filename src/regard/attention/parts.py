"""What an attention is made of, and the memories that it prepares."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.gate import Gate
from regard.attention.masks import check_mask
from regard.attention.memory import Memory
from regard.attention.positions import PositionScheme, make_scheme
from regard.attention.positions.places import check_positions
from regard.attention.projections import chosen_projections, per_head, projection, shared_heads
from regard.attention.scores import SCORES, AdditiveScore, LocationScore, Score, make_score
from regard.attention.selection import SELECTIONS
from regard.attention.windows import check_window, make_local


class Parts(nn.Module):
    """Projections, score and whatever else there is; see :class:`Attention` for the arguments."""

    def __init__(
        self,
        query_size: int,
        key_size: int | None = None,
        value_size: int | None = None,
        *,
        score: str = "scaled_dot",
        heads: int = 1,
        key_heads: int | None = None,
        hidden_size: int | None = None,
        output_size: int | None = None,
        project: bool | Collection[str] | None = None,
        dropout: float = 0.0,
        bias: bool = True,
        select: str = "soft",
        position_scheme: str | PositionScheme | None = None,
        window: int | tuple[int, int] | None = None,
        local: str | None = None,
        local_width: int = 10,
        gate: bool = False,
        coverage: bool = False,
        maximum_positions: int | None = None,
    ) -> None:
        super().__init__()
        if select not in SELECTIONS:
            raise ValueError(f"select {select!r} is none of {', '.join(SELECTIONS)}")
        if score not in SCORES:
            raise ValueError(f"score {score!r} is none of {', '.join(SCORES)}")
        self.heads = heads
        self.key_heads = shared_heads(heads, key_heads, score)
        self.dropout, self.selection = dropout, select
        self.query_size = query_size
        self.key_size = query_size if key_size is None else key_size
        self.value_size = self.key_size if value_size is None else value_size
        names = chosen_projections(project, score, heads)
        hidden = query_size if hidden_size is None else hidden_size
        shared = per_head("query", hidden, heads) * self.key_heads if names else hidden
        inner_bias = bias and score not in ("additive", "concat")
        self.query_projection = projection("query" in names, query_size, hidden, inner_bias)
        self.key_projection = projection("key" in names, self.key_size, shared, inner_bias)
        self.value_projection = projection("value" in names, self.value_size, shared, bias)
        query_part = per_head("query", hidden if "query" in names else query_size, heads)
        inner_value = shared if "value" in names else self.value_size
        inner = per_head("value", inner_value, self.key_heads) * heads
        key_part = query_part
        if score != "location":
            inner_key = shared if "key" in names else self.key_size
            key_part = per_head("key", inner_key, self.key_heads)
        self.output_projection = projection(
            "output" in names, inner, output_size or query_size, bias
        )
        self.context_size = (output_size or query_size) if "output" in names else inner
        self.score: Score = make_score(
            score,
            heads,
            query_part,
            key_part,
            coverage=coverage,
            maximum_positions=maximum_positions,
        )
        self.scheme = make_scheme(position_scheme, heads, query_part, key_part)
        self.window = check_window(window)
        self.local = make_local(local, query_size, heads, local_width)
        self.gate = Gate(query_size) if gate else None

    @property
    def plain(self) -> bool:
        """Whether there is nothing but score, softmax, sum and gate, with no projection after."""
        return (
            self.selection == "soft"
            and self.scheme is None
            and self.window is None
            and self.local is None
            and self.output_projection is None
            and not self.dropout
            and not self.covers
        )

    def prepare(
        self,
        key: Float[Tensor, "batch positions key_size"] | Memory,
        value: Float[Tensor, "batch positions value_size"] | None = None,
        key_mask: Bool[Tensor, "batch positions"] | None = None,
        *,
        positions: Int[Tensor, "*rows positions"] | None = None,
        start: int = 0,
    ) -> Memory:
        """Project keys and values once; attend over the result at every step.

        What stands at positions that ``key_mask`` hides is replaced by zeros, so that junk and NaN
        there never reach a result or a gradient.

        Args:
            positions: where each key stands, ``[positions]`` or ``[batch, positions]``; default
                one by one from ``start``.
        """
        if isinstance(key, Memory):
            if value is not None or key_mask is not None:
                raise ValueError("a memory carries its own value and key_mask")
            positions = key.key_positions if positions is None else positions
            start = start or key.start or 0
            return self.prepare(key.key, key.value, key.key_mask, positions=positions, start=start)
        value = key if value is None else value
        self._check("key", key, self.key_size)
        self._check("value", value, self.value_size)
        _same_positions("value", value.shape[:2], key)
        check_mask("key_mask", key_mask)
        positions = check_positions(positions, *key.shape[:2])
        if key_mask is not None:
            _same_positions("key_mask", key_mask.shape, key)
            hidden = ~key_mask[:, :, None]
            same = value is key
            key = key.masked_fill(hidden, 0.0)
            value = key if same else value.masked_fill(hidden, 0.0)
        values = value if self.value_projection is None else self.value_projection(value)
        keys = values
        if not isinstance(self.score, LocationScore):  # which compares no keys
            keys = key if self.key_projection is None else self.key_projection(key)
        return self.remember(keys, values, key_mask, positions=positions, start=start)

    def remember(
        self,
        keys: Float[Tensor, "batch positions key_size"],
        values: Float[Tensor, "batch positions value_size"],
        key_mask: Bool[Tensor, "batch positions"] | None = None,
        *,
        positions: Int[Tensor, "*rows positions"] | None = None,
        start: int = 0,
    ) -> Memory:
        """The memory that `prepare` gives, of keys and values that are projected already.

        What stands at positions that ``key_mask`` hides must be finite.
        """
        values = split_heads(values, self.key_heads)
        if isinstance(self.score, LocationScore):
            return Memory(values, values, key_mask, (), True, self._start(start), positions)
        keys = split_heads(keys, self.key_heads)
        memory = Memory(keys, values, key_mask, (), True, self._start(start), positions)
        if self.scheme is not None:
            memory = replace(memory, key=self.scheme.rotate(keys, memory.places))
        if isinstance(self.score, AdditiveScore):
            memory = replace(memory, derived=self.score.derive(memory.key))
        return memory

    def extend(
        self,
        memory: Memory,
        key: Float[Tensor, "batch positions key_size"],
        value: Float[Tensor, "batch positions value_size"] | None = None,
        key_mask: Bool[Tensor, "batch positions"] | None = None,
        *,
        positions: Int[Tensor, "*rows positions"] | None = None,
    ) -> Memory:
        """``memory`` (prepared by this attention) with more positions.

        Args:
            positions: where the new keys stand; default one by one after the last of ``memory``.
        """
        start = (memory.start or 0) + memory.positions
        if positions is None and memory.key_positions is not None and memory.positions:
            more = torch.arange(1, key.shape[1] + 1, device=key.device)
            positions = memory.places[:, -1:] + more
        return memory.append(self.prepare(key, value, key_mask, positions=positions, start=start))

    @property
    def placed(self) -> bool:
        """Whether positions count for anything."""
        return not (self.scheme is None and self.window is None and self.local is None)

    def _start(self, start: int) -> int | None:
        return start if self.placed else None

    @property
    def covers(self) -> bool:
        """Whether the score sees coverage."""
        return isinstance(self.score, AdditiveScore) and self.score.w_c is not None

    def _check(self, name: str, tensor: Tensor, size: int) -> None:
        if tensor.dim() != 3 or tensor.shape[-1] != size:
            raise ValueError(f"{name} must be [batch, positions, {size}], not {list(tensor.shape)}")


def split_heads(
    tensor: Float[Tensor, "batch n size"], heads: int
) -> Float[Tensor, "batch heads n part"]:
    """Each head's part of the last dimension."""
    return tensor.unflatten(-1, (heads, -1)).transpose(1, 2)


def _same_positions(name: str, shape: torch.Size, key: Tensor) -> None:
    if shape != key.shape[:2]:
        raise ValueError(
            f"{name} of {list(shape)} does not fit keys of {list(key.shape[:2])}: "
            "both are [batch, positions]"
        )
