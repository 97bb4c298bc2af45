"""What a Transformer layer is made of: a sublayer and the residual connection around it.

On a processor and for gradients, matrix products take in what stands beside them: the layer norm
before, the residual connection and dropout after (`regard.nn.kernels`). The numbers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import Attention, Memory
from regard.nn.dropout import dropout
from regard.nn.feed_forward import FeedForward
from regard.nn.kernels.normed_linears import normed_linears
from regard.nn.kernels.residual_linear import residual_linear


class Residual(nn.Module):
    """The residual connection around a sublayer, with its layer norm and dropout.

    Post-norm, as the paper: ``LayerNorm(x + dropout(sublayer(x)))``. Pre-norm, the option:
    ``x + dropout(sublayer(LayerNorm(x)))``. Either way: ``after(x, sublayer(before(x)))``.
    """

    def __init__(self, size: int, dropout: float, norm: str) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.dropout = dropout
        self.pre = norm == "pre"

    def before(self, inputs: Float[Tensor, "*batch size"]) -> Float[Tensor, "*batch size"]:
        """What the sublayer reads."""
        normed: Tensor = self.norm(inputs) if self.pre else inputs
        return normed

    def after(
        self, inputs: Float[Tensor, "*batch size"], output: Float[Tensor, "*batch size"]
    ) -> Float[Tensor, "*batch size"]:
        """What goes on: the sublayer's output joined to what came in."""
        return self._normed(inputs + dropout(output, self.dropout, self.training))

    def first(
        self,
        inputs: Float[Tensor, "*batch size"],
        linears: Sequence[nn.Linear],
        relu: bool = False,
    ) -> tuple[Float[Tensor, "*batch outputs"], ...]:
        """`before` and the linear layers that read it; ``relu`` of what they give."""
        return normed_linears(inputs, self.norm if self.pre else None, linears, relu)

    def last(
        self,
        inputs: Float[Tensor, "*batch size"],
        hidden: Float[Tensor, "*batch hidden"],
        linear: nn.Linear,
    ) -> Float[Tensor, "*batch size"]:
        """The linear layer that ends the sublayer, and `after`."""
        rate = self.dropout if self.training else 0.0
        return self._normed(residual_linear(inputs, hidden, linear, rate))

    def _normed(self, joined: Tensor) -> Tensor:
        normed: Tensor = joined if self.pre else self.norm(joined)
        return normed


def attend(
    residual: Residual,
    attention: Attention,
    inputs: Float[Tensor, "batch steps size"],
    memory: Memory | None = None,
    *,
    extend: bool = False,
    key_mask: Bool[Tensor, "batch steps"] | None = None,
    causal: bool = False,
    need_weights: bool | Literal["log"] = False,
) -> tuple[Float[Tensor, "batch steps size"], Memory | None, Tensor | None]:
    """An attention over a prepared memory, or without one over the inputs themselves.

    Args:
        extend: the inputs are first appended to the memory.

    Returns:
        What goes on, the memory, and weights if asked for, as `Attention` has them.
    """
    if extend or not fuses(inputs):
        read = residual.before(inputs)
        if extend and memory is not None:
            memory = attention.extend(memory, read)
        context, weights = attention(
            read, memory, key_mask=key_mask, causal=causal, need_weights=need_weights
        )
        return residual.after(inputs, context), memory, weights
    itself, over = memory is None, memory
    queries, *others = residual.first(inputs, _projections(attention, itself))
    if over is None:
        keys, values = others
        over = attention.remember(keys, values, key_mask)
    context, weights = attention.over(
        queries, over, causal=causal, itself=itself, need_weights=need_weights
    )
    assert attention.output_projection is not None
    return residual.last(inputs, context, attention.output_projection), memory, weights


def feed(
    residual: Residual, network: FeedForward, inputs: Float[Tensor, "*batch size"]
) -> Float[Tensor, "*batch size"]:
    """A feed-forward network."""
    if not fuses(inputs):
        return residual.after(inputs, network(residual.before(inputs)))
    (hidden,) = residual.first(inputs, [network.inner], relu=network.plain)
    if not network.plain:
        hidden = network.activate(hidden)
    return residual.last(inputs, hidden, network.outer)


def remember(attention: Attention, memory: Memory) -> Memory:
    """What ``attention.prepare`` makes of an encoder's memory."""
    states = memory.key
    if not fuses(states) or memory.prepared or memory.value is not states:
        return attention.prepare(memory)
    keys, values = normed_linears(states, None, _projections(attention, itself=True)[1:])
    return attention.remember(keys, values, memory.key_mask)


def fuses(inputs: Tensor) -> bool:
    """Whether kernels are taken: for gradients, in full precision, on a processor."""
    return (
        torch.is_grad_enabled()
        and inputs.device.type == "cpu"
        and inputs.dtype in (torch.float32, torch.float64)
        and inputs.numel() > 0
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def _projections(attention: Attention, itself: bool) -> list[nn.Linear]:
    """Of queries, and where it attends to itself of keys and values too."""
    named = (attention.query_projection, attention.key_projection, attention.value_projection)
    found = [projection for projection in named if projection is not None]
    assert len(found) == len(named)
    return found if itself else found[:1]
