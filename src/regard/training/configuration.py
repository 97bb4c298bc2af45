"""The whole configuration of a run: what a recipe says, what a run directory keeps."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from regard.data.configuration import BatchingConfiguration, TokenizationConfiguration
from regard.data.images.configuration import BackboneConfiguration
from regard.models import ModelConfiguration
from regard.models.configuration import TransformerConfiguration
from regard.search import SearchConfiguration
from regard.training.training_configuration import (
    AverageConfiguration,
    TeacherForcingConfiguration,
    TrainingConfiguration,
)

__all__ = [
    "AverageConfiguration",
    "Configuration",
    "TeacherForcingConfiguration",
    "TrainingConfiguration",
]


class Configuration(BaseModel):
    """A recipe with everything filled in; the sections belong to the rooms that read them.

    backbone: what makes features of pictures; None where sources are texts, or where pictures come
        as features.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipe: str
    description: str = ""
    backbone: BackboneConfiguration | None = None
    tokenization: TokenizationConfiguration = TokenizationConfiguration()
    batching: BatchingConfiguration = BatchingConfiguration()
    model: ModelConfiguration = ModelConfiguration()
    training: TrainingConfiguration = TrainingConfiguration()
    search: SearchConfiguration = SearchConfiguration()

    @model_validator(mode="before")
    @classmethod
    def _fill_in_for_pictures(cls, data: Any) -> Any:
        """Where sources are pictures and nothing else is said: no tokens, and a usual backbone."""
        if not _reads_pictures(data):
            return data
        tokenization = data.get("tokenization", {})
        if isinstance(tokenization, dict):
            tokenization = {"source": None, **tokenization}
        return {"backbone": {}, **data, "tokenization": tokenization}

    @model_validator(mode="after")
    def _sources_are_of_one_kind(self) -> "Configuration":
        if self.model.reads_pictures:
            if self.tokenization.source is not None:
                raise ValueError(
                    "an encoder of kind 'grid' reads pictures, which have no tokens: set "
                    "tokenization.source to null"
                )
            return self
        if len(self.training.views) > 1:
            raise ValueError(
                "training.views are of pictures, and this encoder reads texts: leave them out"
            )
        if self.tokenization.source is None:
            raise ValueError(
                "tokenization.source is null, which is for pictures: give it a tokenizer, or set "
                "model.encoder.kind to grid"
            )
        if self.backbone is not None:
            raise ValueError(
                "backbone makes features of pictures, and this encoder reads texts: set it to "
                "null, or model.encoder.kind to grid"
            )
        return self

    @model_validator(mode="after")
    def _sections_agree(self) -> "Configuration":
        if self.model.embedding.share and not self.tokenization.joint:
            raise ValueError(
                "model.embedding.share needs one vocabulary for both sides: "
                "set tokenization.joint to true or model.embedding.share to false"
            )
        decoder = self.model.decoder
        longest = self.batching.maximum_length
        reached = longest + self.model.position_offset
        for name, part in (("encoder", self.model.encoder), ("decoder", decoder)):
            if (
                isinstance(part, TransformerConfiguration)
                and part.positions == "learned"
                and part.maximum_positions < reached
            ):
                raise ValueError(
                    f"model.{name}.maximum_positions ({part.maximum_positions}) of learned "
                    f"positions must not be less than batching.maximum_length plus "
                    f"model.position_offset ({reached})"
                )
        if (decoder.kind == "recurrent" and decoder.attend != "never") or (
            decoder.kind == "hard_attention" and decoder.order == 0
        ):
            reach = decoder.attention.maximum_positions
            if decoder.attention.score == "location" and reach < longest:
                raise ValueError(
                    f"model.decoder.attention.maximum_positions ({reach}) of score location must "
                    f"not be less than batching.maximum_length ({longest})"
                )
        return self

    @model_validator(mode="after")
    def _both_passes_read_the_same(self) -> "Configuration":
        hidden = getattr(self.model.decoder, "copying_unseen", 0.0)
        if self.training.r_drop and hidden:
            raise ValueError(
                f"training.r_drop compares two passes over the same symbols, but each hides others "
                f"of them with model.decoder.copying_unseen ({hidden}): set one of the two to 0"
            )
        return self

    @model_validator(mode="after")
    def _attention_reaches_the_loss(self) -> "Configuration":
        training = self.training
        if training.doubly_stochastic and not self.attention_reaches_the_loss:
            raise ValueError(
                "training.doubly_stochastic needs a decoder that attends, and neither copies nor "
                "is 'hard_attention': set it to 0"
            )
        if training.r_drop and self.model.draws:
            raise ValueError(
                "training.r_drop compares two passes, and attention with select 'hard' looks "
                "elsewhere in each: set one of the two to another value"
            )
        return self

    @model_validator(mode="after")
    def _captions_can_be_rewarded(self) -> "Configuration":
        training = self.training
        if training.objective != "self_critical":
            return self
        if not self.model.reads_pictures or self.model.draws:
            raise ValueError(
                "training.objective self_critical rewards captions of pictures, by a model whose "
                "attention is not hard: set it to likelihood"
            )
        if training.r_drop or not training.teacher_forcing.always:
            raise ValueError(
                "training.objective self_critical learns from captions that the model draws: leave "
                "out training.r_drop and training.teacher_forcing"
            )
        return self

    @property
    def attention_reaches_the_loss(self) -> bool:
        """Whether what is attended to can cost something in itself."""
        decoder = self.model.decoder
        unfused = self.model.copies or decoder.kind == "hard_attention"
        blind = decoder.kind == "recurrent" and decoder.attend == "never"
        return not (unfused or blind)

    def as_dict(self) -> dict[str, Any]:
        """The configuration in YAML's and JSON's terms, every default written out."""
        return self.model_dump(mode="json", by_alias=True)


def _reads_pictures(data: Any) -> bool:
    """Whether data that are not checked yet ask for an encoder of pictures."""
    for key in ("model", "encoder"):
        data = data.get(key) if isinstance(data, dict) else None
    return isinstance(data, dict) and data.get("kind") == "grid"
