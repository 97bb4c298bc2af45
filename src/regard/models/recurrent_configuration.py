"""Sections of recurrent encoders and decoders, and of how these attend (EQUATIONS part A)."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from regard.models.section import Section, Share, Size, check_copying, check_residual

Cell = Literal["gru", "lstm", "library_gru"]


class RecurrentEncoderConfiguration(Section):
    """A recurrent encoder (EQUATIONS A2, A3)."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Cell = "gru"
    size: Size = Field(256, description="size of each direction")
    layers: Size = 1
    bidirectional: bool = True
    residual: bool = Field(False, description="x + layer(x), from the second layer on")
    layer_norm: bool = Field(False, description="on each layer's output")
    dropout: Share = Field(0.1, description="on what goes from layer to layer and out")

    @model_validator(mode="after")
    def _fits(self) -> RecurrentEncoderConfiguration:
        check_residual(self.residual, self.layers)
        return self


class AttentionConfiguration(Section):
    """How a recurrent decoder attends over the source."""

    score: Literal["dot", "scaled_dot", "general", "additive", "concat", "location"] = "additive"
    heads: Size = 1
    key_heads: int = Field(0, ge=0, description="heads of keys and values; 0 = as many as heads")
    size: Size = Field(256, description="size of projected queries and keys over all heads")
    project: bool | None = Field(
        None, description="project queries, keys, values, output; default: what the score needs"
    )
    dropout: Share = 0.0
    select: Literal["soft", "hard", "sparsemax", "entmax"] = "soft"
    hard_expectation: float = Field(
        0.5, ge=0.0, le=1.0, description="hard: share of training batches that attend softly"
    )
    hard_use: Literal["best", "expectation"] = Field(
        "best", description="hard: the likeliest position in use, or the mean of all"
    )
    local: Literal["none", "monotonic", "predictive"] = "none"
    local_width: Size = Field(10, description="positions to each side of a local attention, D")
    gate: bool = Field(False, description="the context is multiplied by beta = sigma(f(s))")
    coverage: bool = Field(False, description="the score sees what was attended to before")
    maximum_positions: Size = Field(200, description="longest source of score location")

    @model_validator(mode="after")
    def _fits(self) -> AttentionConfiguration:
        if self.coverage and self.score not in ("additive", "concat"):
            raise ValueError("coverage is for the scores 'additive' and 'concat'")
        if self.key_heads and self.score not in ("dot", "scaled_dot", "general"):
            raise ValueError("key_heads is for the scores 'dot', 'scaled_dot' and 'general'")
        return self


class StartConfiguration(Section):
    """How the encoder's states become the decoder's first state (EQUATIONS A1, A4, A16)."""

    from_: Literal["backward_first", "last", "mean", "zero"] = Field("last", alias="from")
    projection: Literal["tanh", "linear", "mlp", "none"] = "tanh"

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class RecurrentDecoderConfiguration(Section):
    """A recurrent decoder: attend before the cell, after it, or never."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Cell = "gru"
    size: Size = 256
    layers: Size = 1
    attend: Literal["before", "after", "never"] = "before"
    attention: AttentionConfiguration = AttentionConfiguration()
    constant_context: bool = Field(
        False, description="attend=never: what sums up the source is read at every step too"
    )
    constant_context_from: Literal["last", "start"] = Field(
        "last", description="the encoder's last state h_S, or the decoder's first state s_0"
    )
    input_feeding: bool = Field(False, description="attend=after: s~_{i-1} joins the next input")
    readout: Literal["maxout", "attentional", "joined", "deep", "deep_tanh", "none"] = "maxout"
    readout_size: Size = Field(256, description="of maxout and attentional")
    start: StartConfiguration = StartConfiguration()
    residual: bool = Field(False, description="x + layer(x), from the second layer on")
    layer_norm: bool = Field(False, description="on each layer's output")
    dropout: Share = Field(0.1, description="between layers and on the readout")
    copying: bool = Field(False, description="symbols of the source can be copied")
    copying_unseen: Share = Field(
        0.0, description="share of a source's symbols read as unknown in training, only copied"
    )

    @model_validator(mode="after")
    def _fits(self) -> RecurrentDecoderConfiguration:
        check_residual(self.residual, self.layers)
        if self.copying and self.attend == "never":
            raise ValueError("copying needs attention: attend 'before' or 'after'")
        if self.copying and (self.attention.select != "soft" or self.attention.local != "none"):
            raise ValueError(
                "copying needs attention that reaches every symbol: select 'soft' and local 'none'"
            )
        check_copying(self.copying, self.copying_unseen)
        if self.attend == "never" and self.readout in ("attentional", "joined"):
            raise ValueError(f"readout '{self.readout}' needs attention: use 'maxout' or 'none'")
        fed = self.attend == "after" and self.readout in ("attentional", "joined")
        if self.input_feeding and not fed:
            raise ValueError(
                "input_feeding needs attend 'after' and readout 'attentional' or 'joined'"
            )
        if self.constant_context and self.attend != "never":
            raise ValueError("constant_context is for attend 'never'")
        if self.constant_context_from == "start" and not self.constant_context:
            raise ValueError("constant_context_from is for constant_context: set that to true")
        if self.attend == "after" and self.readout == "none":
            raise ValueError("attend 'after' needs a readout that reads the context")
        summed = self.constant_context and self.constant_context_from == "last"
        if self.attend == "never" and self.start.from_ == "zero" and not summed:
            raise ValueError("attend 'never' with start from 'zero' reads nothing of the source")
        return self


class HardAttentionScoreConfiguration(Section):
    """What hard attention of order 0 scores positions by: a single head, softmax over positions."""

    score: Literal["dot", "scaled_dot", "general", "additive", "concat", "location"] = "general"
    size: Size = Field(256, description="size of projected queries and keys")
    project: bool | None = Field(
        None, description="project queries and keys; default: what the score needs"
    )
    maximum_positions: Size = Field(200, description="longest source of score location")


class HardAttentionDecoderConfiguration(Section):
    """A decoder that reads one position a step, summed exactly over all (Wu & Cotterell 2019)."""

    kind: Literal["hard_attention"] = "hard_attention"
    cell: Cell = "lstm"
    size: Size = 256
    layers: Size = 1
    order: Literal[0, 1] = Field(
        0, description="0: where to read is scored; 1: it is so far from where the last step read"
    )
    monotonic: bool = Field(True, description="no step reads before where the last one did")
    jump: Size = Field(5, description="order 1: positions from one step to the next, at most")
    attention: HardAttentionScoreConfiguration = HardAttentionScoreConfiguration()
    readout_size: Size = 256
    start: StartConfiguration = StartConfiguration()
    dropout: Share = Field(0.1, description="between layers and on the states")
