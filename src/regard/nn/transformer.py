"""Transformer layers (Vaswani et al. 2017, section 3.1; EQUATIONS C1-C3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import Attention, Memory
from regard.nn.feed_forward import FeedForward
from regard.nn.sublayers import Residual, attend, feed, remember


@dataclass(frozen=True)
class LayerOptions:
    """What a layer is made of.

    Attributes:
        size: of the states that go through it.
        heads, key_heads: of every attention; None = as many heads of keys as of queries.
        hidden_size, activation: of the feed-forward network.
        norm: ``post`` (the paper) or ``pre``.
        dropout: on what each sublayer gives, before it is added (section 5.4 of the paper).
        attention_dropout: on the weights of every attention.
        feed_forward_dropout: inside the feed-forward network.
        position_scheme: of self-attention: ``rotary``, ``alibi``, ``relative`` or None.
    """

    size: int
    heads: int
    hidden_size: int
    key_heads: int | None = None
    activation: str = "relu"
    norm: str = "pre"
    dropout: float = 0.1
    attention_dropout: float = 0.0
    feed_forward_dropout: float = 0.0
    position_scheme: str | None = None

    def self_attention(self) -> Attention:
        """Over the states themselves."""
        return Attention(
            self.size,
            heads=self.heads,
            key_heads=self.key_heads,
            project=True,
            dropout=self.attention_dropout,
            position_scheme=self.position_scheme,
        )

    def cross_attention(self, memory_size: int) -> Attention:
        """Over the source's memory, where positions are those of another sequence."""
        return Attention(
            self.size,
            memory_size,
            heads=self.heads,
            key_heads=self.key_heads,
            project=True,
            dropout=self.attention_dropout,
        )

    def feed_forward(self) -> FeedForward:
        """Of its own weights."""
        return FeedForward(self.size, self.hidden_size, self.activation, self.feed_forward_dropout)

    def residual(self) -> Residual:
        """Around one sublayer."""
        return Residual(self.size, self.dropout, self.norm)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, options: LayerOptions) -> None:
        super().__init__()
        self.attention = options.self_attention()
        self.feed_forward = options.feed_forward()
        self.attention_residual = options.residual()
        self.feed_forward_residual = options.residual()

    def forward(
        self,
        inputs: Float[Tensor, "batch positions size"],
        key_mask: Bool[Tensor, "batch positions"] | None,
    ) -> Float[Tensor, "batch positions size"]:
        """Every position attends to every real one."""
        hidden, _, _ = attend(self.attention_residual, self.attention, inputs, key_mask=key_mask)
        return feed(self.feed_forward_residual, self.feed_forward, hidden)

    def self_weights(
        self,
        inputs: Float[Tensor, "batch positions size"],
        key_mask: Bool[Tensor, "batch positions"] | None,
    ) -> Float[Tensor, "batch heads positions positions"]:
        """What each position attends to in `forward`."""
        read = self.attention_residual.before(inputs)
        weights = self.attention(read, key_mask=key_mask, need_weights=True).weights
        assert weights is not None
        return weights


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the source, feed-forward."""

    def __init__(self, options: LayerOptions, memory_size: int) -> None:
        super().__init__()
        self.self_attention = options.self_attention()
        self.cross_attention = options.cross_attention(memory_size)
        self.feed_forward = options.feed_forward()
        self.self_residual = options.residual()
        self.cross_residual = options.residual()
        self.feed_forward_residual = options.residual()

    def forward(
        self,
        inputs: Float[Tensor, "batch steps size"],
        source: Memory,
        history: Memory | None = None,
        *,
        need_weights: bool | Literal["log"] = False,
    ) -> tuple[Float[Tensor, "batch steps size"], Memory | None, Tensor | None]:
        """All steps at once, or, with ``history``, the next one after those it holds.

        Args:
            source: what ``cross_attention.prepare`` made of the encoder's memory.
            history: prepared memory of the steps before (a key-value cache); None = none kept.

        Returns:
            outputs, the history with these steps appended (None if none came), and
            cross-attention weights ``[batch, heads, steps, source positions]``, or their natural
            logarithms (``"log"``), if asked for.
        """
        hidden, history, _ = attend(
            self.self_residual,
            self.self_attention,
            inputs,
            history,
            extend=history is not None,
            causal=True,
        )
        hidden, _, weights = attend(
            self.cross_residual, self.cross_attention, hidden, source, need_weights=need_weights
        )
        return feed(self.feed_forward_residual, self.feed_forward, hidden), history, weights

    def read(self, memory: Memory) -> Memory:
        """What ``forward`` needs of an encoder's memory."""
        return remember(self.cross_attention, memory)

    def self_weights(
        self, inputs: Float[Tensor, "batch steps size"]
    ) -> Float[Tensor, "batch heads steps steps"]:
        """What each step attends to, of itself and those before it, in `forward` of all at once."""
        read = self.self_residual.before(inputs)
        weights = self.self_attention(read, causal=True, need_weights=True).weights
        assert weights is not None
        return weights

    def remember(self, history: Memory, inputs: Float[Tensor, "batch steps size"]) -> Memory:
        """The history with these steps, which later ones may attend to, appended."""
        return self.self_attention.extend(history, self.self_residual.before(inputs))
