"""What a model is made of: the ``model`` section of a recipe."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Share = Annotated[float, Field(ge=0.0, lt=1.0)]
Size = Annotated[int, Field(ge=1)]
Cell = Literal["gru", "lstm", "library_gru"]


class Section(BaseModel):
    """A frozen part of the configuration; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _check_residual(residual: bool, layers: int) -> None:
    if residual and layers < 2:
        raise ValueError("residual needs 2 layers or more: it adds from the second one on")


class EmbeddingConfiguration(Section):
    """Symbols as vectors."""

    size: Size = 256
    dropout: Share = 0.1
    dropout_by: Literal["position", "symbol"] = Field(
        "position", description="symbol: one mask for all occurrences in a batch; less to compute"
    )
    share: bool = Field(False, description="one matrix for source and target (joint vocabulary)")
    tie_output: bool = Field(False, description="the target matrix serves as output weights")
    scaled: bool = Field(False, description="multiply vectors by sqrt(size)")


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
        _check_residual(self.residual, self.layers)
        return self


class TransformerLayerConfiguration(Section):
    """What every layer of a Transformer or Universal Transformer is made of."""

    heads: Size = 4
    key_heads: int = Field(0, ge=0, description="heads of keys and values; 0 = as many as heads")
    feed_forward_size: Size = 256
    activation: Literal["relu", "gelu", "swiglu"] = "relu"
    norm: Literal["pre", "post"] = "pre"
    dropout: Share = Field(0.1, description="on what sublayers give, and on the first states")
    attention_dropout: Share = Field(0.0, description="on attention weights")
    feed_forward_dropout: Share = Field(0.0, description="inside the feed-forward networks")


class TransformerConfiguration(TransformerLayerConfiguration):
    """What encoder and decoder of a Transformer have in common (EQUATIONS C1-C3)."""

    layers: Size = 4
    positions: Literal["sinusoidal", "learned", "rotary", "alibi", "relative", "none"] = Field(
        "sinusoidal", description="the first two are added to embeddings, the rest are attention's"
    )
    maximum_positions: Size = Field(256, description="longest text of learned positions, in tokens")


class TransformerEncoderConfiguration(TransformerConfiguration):
    """A Transformer encoder."""

    kind: Literal["transformer"] = "transformer"


class UniversalConfiguration(TransformerLayerConfiguration):
    """What encoder and decoder of a Universal Transformer have in common (EQUATIONS C4, C5)."""

    norm: Literal["pre", "post"] = "post"
    steps: Size = Field(4, description="how often the layer is applied; with adaptive, at most")
    adaptive: Literal["none", "graves", "tensor2tensor"] = Field(
        "none", description="each position takes as many steps as it needs, up to `steps`"
    )
    halting_bias: float = Field(-3.0, description="what the halting unit's bias starts at")
    halting_epsilon: float = Field(
        0.01, gt=0.0, lt=1.0, description="a position halts when what it has left is this or less"
    )


class UniversalEncoderConfiguration(UniversalConfiguration):
    """A Universal Transformer encoder."""

    kind: Literal["universal_transformer"] = "universal_transformer"


class UniversalDecoderConfiguration(UniversalConfiguration):
    """A Universal Transformer decoder."""

    kind: Literal["universal_transformer"] = "universal_transformer"


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
    select: Literal["soft", "sparsemax", "entmax"] = "soft"
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
    projection: Literal["tanh", "linear", "none"] = "tanh"

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class RecurrentDecoderConfiguration(Section):
    """A recurrent decoder: attend before the cell, after it, or never."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Cell = "gru"
    size: Size = 256
    layers: Size = 1
    attend: Literal["before", "after", "never"] = "before"
    attention: AttentionConfiguration = AttentionConfiguration()
    constant_context: bool = Field(False, description="attend=never: h_S is read at every step too")
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
        _check_residual(self.residual, self.layers)
        if self.copying and self.attend == "never":
            raise ValueError("copying needs attention: attend 'before' or 'after'")
        if self.copying and (self.attention.select != "soft" or self.attention.local != "none"):
            raise ValueError(
                "copying needs attention that reaches every symbol: select 'soft' and local 'none'"
            )
        _check_copying(self)
        if self.attend == "never" and self.readout in ("attentional", "joined"):
            raise ValueError(f"readout '{self.readout}' needs attention: use 'maxout' or 'none'")
        fed = self.attend == "after" and self.readout in ("attentional", "joined")
        if self.input_feeding and not fed:
            raise ValueError(
                "input_feeding needs attend 'after' and readout 'attentional' or 'joined'"
            )
        if self.constant_context and self.attend != "never":
            raise ValueError("constant_context is for attend 'never'")
        if self.attend == "after" and self.readout == "none":
            raise ValueError("attend 'after' needs a readout that reads the context")
        if self.attend == "never" and self.start.from_ == "zero" and not self.constant_context:
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


class TransformerDecoderConfiguration(TransformerConfiguration):
    """A Transformer decoder."""

    kind: Literal["transformer"] = "transformer"
    shown_layer: int = Field(
        0, ge=0, description="whose cross-attention is shown, mean over heads; 0 = last but one"
    )
    copying: bool = Field(False, description="symbols of the source can be copied")
    copying_unseen: Share = Field(
        0.0, description="share of a source's symbols read as unknown in training, only copied"
    )

    @model_validator(mode="after")
    def _fits(self) -> TransformerDecoderConfiguration:
        _check_copying(self)
        if self.shown_layer > self.layers:
            raise ValueError(f"shown_layer {self.shown_layer} is beyond layers {self.layers}")
        return self


def _check_copying(
    decoder: RecurrentDecoderConfiguration | TransformerDecoderConfiguration,
) -> None:
    if decoder.copying_unseen and not decoder.copying:
        raise ValueError("copying_unseen is for a decoder with copying")


#: Decoders that copy, if they are told to.
CopyingDecoderConfiguration = RecurrentDecoderConfiguration | TransformerDecoderConfiguration

Encoder = Annotated[
    RecurrentEncoderConfiguration | TransformerEncoderConfiguration | UniversalEncoderConfiguration,
    Field(discriminator="kind"),
]
Decoder = Annotated[
    RecurrentDecoderConfiguration
    | TransformerDecoderConfiguration
    | UniversalDecoderConfiguration
    | HardAttentionDecoderConfiguration,
    Field(discriminator="kind"),
]


class ModelConfiguration(Section):
    """``encoder -> memory -> decoder``."""

    embedding: EmbeddingConfiguration = EmbeddingConfiguration()
    encoder: Encoder = RecurrentEncoderConfiguration()
    decoder: Decoder = RecurrentDecoderConfiguration()
    features: Literal["joined", "encoder"] = Field(
        "joined", description="features are symbols of the source, or have an encoder of their own"
    )
    initialization: Literal["glorot", "bahdanau", "luong"] = Field(
        "glorot", description="glorot, or as the paper that is named has it"
    )

    @model_validator(mode="after")
    def _features_reach_the_decoder(self) -> ModelConfiguration:
        decoder = self.decoder
        if self.features == "joined" or decoder.kind != "recurrent":
            return self
        if decoder.attend == "never" or decoder.attention.local != "none":
            raise ValueError(
                "features 'encoder' are read by attention over the whole source alone (attend "
                "'before' or 'after', local 'none'): set features to 'joined'"
            )
        return self

    @model_validator(mode="after")
    def _pondering_reaches_the_loss(self) -> ModelConfiguration:
        encoder = self.encoder
        adaptive = encoder.kind == "universal_transformer" and encoder.adaptive != "none"
        if adaptive and (self.copies or self.decoder.kind == "hard_attention"):
            raise ValueError(
                "an encoder with adaptive steps needs a decoder that neither copies nor is "
                "'hard_attention': set encoder.adaptive to none"
            )
        return self

    @property
    def copies(self) -> bool:
        """Whether symbols of the source can be copied, those never seen too."""
        return isinstance(self.decoder, CopyingDecoderConfiguration) and self.decoder.copying
