"""How text becomes tokens and how tokens become batches: the data sections of a configuration."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard.data.special import SPECIAL_TOKENS


class TokenizerConfiguration(BaseModel):
    """One side's tokenizer.

    kind: `subword` (sentencepiece), `character` (code points) or `space` (symbols between spaces).
    size: entries of a subword vocabulary, the four specials included; small data shrink it.
        The other kinds hold every symbol of the training data and do not read it.
    algorithm: `unigram` or `bpe`, for subwords.
    sampling: subword sampling in training, 0 = off: the smoothing exponent of unigram sampling
        over all segmentations (Kudo 2018; smaller = more varied), or the probability that bpe
        drops a merge (Provilkov et al. 2020).
    normalization: Unicode form of everything read; what is written back is in this form too.
    lowercase: lower-case everything read.
    minimum_count: rarer symbols of a character or space vocabulary are unknown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["subword", "character", "space"] = "subword"
    size: Annotated[int, Field(gt=len(SPECIAL_TOKENS))] = 8000
    algorithm: Literal["unigram", "bpe"] = "unigram"
    sampling: Annotated[float, Field(ge=0, le=1)] = 0.0
    normalization: Literal["NFC", "NFD", "NFKC"] = "NFC"
    lowercase: bool = False
    minimum_count: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _only_what_the_kind_reads(self) -> "TokenizerConfiguration":
        if self.kind != "subword" and self.sampling > 0:
            raise ValueError(f"sampling needs kind subword, not {self.kind}; set sampling to 0")
        if self.kind == "subword" and self.minimum_count > 1:
            raise ValueError("minimum_count is for kinds character and space; set it to 1")
        return self


class FeaturesConfiguration(BaseModel):
    """Symbols of features, read before the source.

    minimum_count: rarer symbols are unknown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    minimum_count: Annotated[int, Field(ge=1)] = 1


class TokenizationConfiguration(BaseModel):
    """Both sides' tokenizers; `joint`: one vocabulary, made from both sides, for source and target.

    A joint vocabulary needs the same settings on both sides.

    source: None where sources are pictures, which have no tokens.
    features: how the features of pairs that have any become symbols; None = pairs have none.
        Training on pairs with features fills it in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    joint: bool = True
    source: TokenizerConfiguration | None = TokenizerConfiguration()
    target: TokenizerConfiguration = TokenizerConfiguration()
    features: FeaturesConfiguration | None = None

    @property
    def sampled(self) -> bool:
        """Whether a text is cut into subwords at random, anew in every epoch."""
        return any(side is not None and side.sampling > 0 for side in (self.source, self.target))

    @model_validator(mode="after")
    def _joint_sides_agree(self) -> "TokenizationConfiguration":
        if self.source is None:
            if self.features is not None:
                raise ValueError("features are for texts; a picture has none: set them to null")
            return self
        if self.joint and self.source != self.target:
            source, target = self.source.model_dump(), self.target.model_dump()
            keys = ", ".join(key for key in source if source[key] != target[key])
            raise ValueError(
                f"a joint vocabulary needs the same settings for source and target, which differ "
                f"in {keys}; make them equal or set joint to false"
            )
        return self


class BatchingConfiguration(BaseModel):
    """How pairs are put together for training.

    tokens: most positions on either side of a batch, padding included.
    maximum_length: pairs with more tokens than this on either side, the end symbol included, are
        left out of training and counted; so are pairs that do not fit into a batch.
    pool: pairs among which lengths are matched; 0 = the whole epoch.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: Annotated[int, Field(ge=1)] = 4096
    maximum_length: Annotated[int, Field(ge=2)] = 200
    pool: Annotated[int, Field(ge=0)] = 0
