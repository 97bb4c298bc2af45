"""What a model is made of: the ``model`` section of a recipe."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from regard.models.grid_configuration import GridEncoderConfiguration
from regard.models.section import Section, Share, Size, check_copying, check_residual
from regard.models.transformer_configuration import (
    TransformerConfiguration,
    TransformerDecoderConfiguration,
    TransformerEncoderConfiguration,
    TransformerLayerConfiguration,
    UniversalConfiguration,
    UniversalDecoderConfiguration,
    UniversalEncoderConfiguration,
)
from regard.nn.positions import ADDED

__all__ = [
    "AttentionConfiguration",
    "CopyingDecoderConfiguration",
    "EmbeddingConfiguration",
    "GridEncoderConfiguration",
    "HardAttentionDecoderConfiguration",
    "HardAttentionScoreConfiguration",
    "ModelConfiguration",
    "RecurrentDecoderConfiguration",
    "RecurrentEncoderConfiguration",
    "StartConfiguration",
    "TransformerConfiguration",
    "TransformerDecoderConfiguration",
    "TransformerEncoderConfiguration",
    "TransformerLayerConfiguration",
    "UniversalConfiguration",
    "UniversalDecoderConfiguration",
    "UniversalEncoderConfiguration",
    "WordDropoutConfiguration",
]

Cell = Literal["gru", "lstm", "library_gru"]


class WordDropoutConfiguration(Section):
    """How likely the whole vector of a token is dropped, anew at each place and in each batch."""

    source: Share = 0.0
    target: Share = Field(0.0, description="of what the decoder reads; never of what it writes")


class EmbeddingConfiguration(Section):
    """Symbols as vectors."""

    size: Size = 256
    dropout: Share = 0.1
    dropout_by: Literal["position", "symbol"] = Field(
        "position", description="symbol: one mask for all occurrences in a batch; less to compute"
    )
    word_dropout: WordDropoutConfiguration = WordDropoutConfiguration()
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


#: Decoders that copy, if they are told to.
CopyingDecoderConfiguration = RecurrentDecoderConfiguration | TransformerDecoderConfiguration

Encoder = Annotated[
    RecurrentEncoderConfiguration
    | TransformerEncoderConfiguration
    | UniversalEncoderConfiguration
    | GridEncoderConfiguration,
    Field(discriminator="kind"),
]
Decoder = Annotated[
    RecurrentDecoderConfiguration
    | TransformerDecoderConfiguration
    | UniversalDecoderConfiguration
    | HardAttentionDecoderConfiguration,
    Field(discriminator="kind"),
]


def _adds_positions(part: Section) -> bool:
    """Whether an encoder or decoder adds positions, counted from somewhere, to what it reads."""
    if isinstance(part, TransformerConfiguration):
        return part.positions in ADDED
    return isinstance(part, UniversalConfiguration)


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
    position_offset: int = Field(
        0, ge=0, description="in training, positions count from a random number of 0 to this"
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
    def _pictures_have_no_symbols(self) -> ModelConfiguration:
        if not self.reads_pictures:
            return self
        for key, wanted in (
            ("embedding.share", self.embedding.share),
            ("embedding.word_dropout.source", self.embedding.word_dropout.source > 0),
            ("decoder.copying", self.copies),
            ("features", self.features != "joined"),
        ):
            if wanted:
                raise ValueError(f"an encoder of kind 'grid' reads no symbols: leave {key} out")
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

    @model_validator(mode="after")
    def _positions_have_an_offset(self) -> ModelConfiguration:
        if self.position_offset and not any(map(_adds_positions, (self.encoder, self.decoder))):
            raise ValueError(
                "position_offset is for positions that are added: those of a Universal "
                "Transformer, or 'sinusoidal' and 'learned' ones of a Transformer"
            )
        return self

    def with_steps(self, steps: int) -> ModelConfiguration:
        """The same with other steps of every Universal Transformer; with adaptive ones, at most.

        Weights do not depend on them. Raises ValueError where there is none, or for less than 1.
        """
        parts = {"encoder": self.encoder, "decoder": self.decoder}
        universal = {
            name: part.model_copy(update={"steps": steps})
            for name, part in parts.items()
            if isinstance(part, UniversalConfiguration)
        }
        if not universal:
            raise ValueError(
                f"steps can be chosen for a Universal Transformer alone; here the encoder is "
                f"'{self.encoder.kind}', the decoder '{self.decoder.kind}'"
            )
        if steps < 1:
            raise ValueError(f"steps is {steps}; it must be at least 1")
        return self.model_copy(update=universal)

    @property
    def reads_pictures(self) -> bool:
        """Whether sources are pictures."""
        return self.encoder.kind == "grid"

    @property
    def draws(self) -> bool:
        """Whether it attends to positions that are drawn in training (EQUATIONS A12)."""
        decoder = self.decoder
        if decoder.kind != "recurrent" or decoder.attend == "never":
            return False
        return decoder.attention.select == "hard"

    @property
    def copies(self) -> bool:
        """Whether symbols of the source can be copied, those never seen too."""
        return isinstance(self.decoder, CopyingDecoderConfiguration) and self.decoder.copying
