"""The sections of Transformers and Universal Transformers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from regard.models.section import Section, Share, Size, check_copying


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
        check_copying(self.copying, self.copying_unseen)
        if self.shown_layer > self.layers:
            raise ValueError(f"shown_layer {self.shown_layer} is beyond layers {self.layers}")
        return self


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
