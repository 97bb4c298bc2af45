"""What a model is made of: the ``model`` section of a recipe."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from regard.models.grid_configuration import GridEncoderConfiguration
from regard.models.recurrent_configuration import (
    AttentionConfiguration,
    HardAttentionDecoderConfiguration,
    HardAttentionScoreConfiguration,
    RecurrentDecoderConfiguration,
    RecurrentEncoderConfiguration,
    StartConfiguration,
)
from regard.models.section import Section, Share, Size
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
