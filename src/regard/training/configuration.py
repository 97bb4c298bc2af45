"""The whole configuration of a run: what a recipe says, what a run directory keeps."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard.data.configuration import BatchingConfiguration, TokenizationConfiguration
from regard.data.images.configuration import BackboneConfiguration
from regard.models import ModelConfiguration
from regard.models.configuration import TransformerConfiguration
from regard.search import SearchConfiguration

Metric = Literal[
    "bleu",
    "chrf",
    "word_error_rate",
    "symbol_error_rate",
    "exact_match",
    "bleu_4",
    "meteor_exact_stem",
    "rouge_l",
    "cider_d",
]
Number = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
AtLeastOne = Annotated[int, Field(ge=1)]


class AverageConfiguration(BaseModel):
    """Averaging of weights.

    kind: when training ends, of the `count` validated weights with the `best` metric or of the
        `last` ones; that average replaces the best single weights only where it does better on the
        validation data. `exponential`: from update to update, with `decay`, and what is validated
        and kept are always averages. Or `none`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["best", "last", "exponential", "none"] = "best"
    count: AtLeastOne = 5
    decay: Share = 0.999


class TeacherForcingConfiguration(BaseModel):
    """How often a step reads the gold token rather than the model's own last prediction.

    kind: `constant`, `linear`, `exponential` or `inverse_sigmoid` over the updates k
        (Bengio et al. 2015).
    share: the probability of the gold token; with `linear`, the first one. 1 = always.
    minimum, slope: of `linear`, ``max(minimum, share - slope k)``.
    base: q of `exponential`, ``q^k``. sigmoid: m of `inverse_sigmoid`, ``m / (m + exp(k / m))``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["constant", "linear", "exponential", "inverse_sigmoid"] = "constant"
    share: Probability = 1.0
    minimum: Probability = 0.0
    slope: NotNegative = 0.0001
    base: Annotated[float, Field(gt=0, lt=1)] = 0.9999
    sigmoid: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 1000.0

    @property
    def always(self) -> bool:
        """Whether every token is gold, throughout."""
        return self.kind == "constant" and self.share == 1.0


class ReinforceConfiguration(BaseModel):
    """How hard attention learns where to look (Xu et al. 2015, section 4.1; EQUATIONS A12).

    reward: lambda_r, of ``(log p(y | l) - b) grad log p(l)``.
    entropy: lambda_e, of ``grad H[l]``.
    baseline_decay: of b, a moving average of ``log p(y | l)``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reward: NotNegative = 0.1
    entropy: NotNegative = 0.002
    baseline_decay: Share = 0.9


class TrainingConfiguration(BaseModel):
    """How weights are found.

    objective: `likelihood` of the gold targets, or `self_critical`, of captions alone: the CIDEr-D
        of captions that the model draws, from the weights of a run on
        (`regard.training.self_critical`). Label smoothing, `doubly_stochastic` and `ponder_cost`
        have no part in it.
    optimizer: `adam` (Kingma and Ba 2015), whose weight_decay is an L2 penalty, or `adamw`
        (Loshchilov and Hutter 2019). Vectors (biases, norms) are never decayed.
    learning_rate: its peak, at the end of the warm-up; of `noam`, a factor.
    schedule: after `warmup` updates of linear rise: `constant`, `inverse_square_root`
        (Vaswani et al. 2017, section 5.3), `noam`, which is that with the peak
        ``learning_rate / sqrt(size * warmup)``, size that of the embeddings, as the paper has it,
        or `linear`, down to 0 at `maximum_updates`.
    cooldown: last share of the run in which the rate also falls to 0 on a straight line, so that
        the end of the budget finds settled weights; 0 = off. The run is what `maximum_updates`,
        `maximum_epochs` or `--minutes` allow, whichever is used up first.
    label_smoothing: share of the probability that is spread evenly over the vocabulary.
    r_drop: alpha of R-Drop (Liang et al. 2021): every batch is computed twice, with different
        dropout, and the distance of the two answers is part of the loss; 0 = off.
    ponder_cost: weight, in the loss, of the steps that models with adaptive steps take.
    doubly_stochastic: lambda, the weight of Show, Attend and Tell's penalty: each place is to get
        as much attention as any other, over all of an output; 0 = off.
    reinforce: of hard attention alone.
    teacher_forcing: how often the decoder reads gold tokens.
    gradient_clip: largest norm of all gradients together; 0 = off.
    maximum_updates, maximum_epochs: where training ends; 0 = no such end.
    validation_interval: updates between two validations by free decoding.
    patience: validations without a better metric after which training ends; 0 = off.
    metric: what chooses the model, on the validation texts.
    validation_beam: beam of those decodings; 1 = greedy.
    validation_limit: distinct validation sources that are used, spread evenly; 0 = all.
    checkpoints: how many checkpoints to resume from are kept.
    checkpoint_interval_seconds: one is saved that often, and at every validation.
    seed: of everything random. threads: of the processor; 0 = all that this process may use.
    matrix_products: precision of the factors, in training, of the matrix products of Transformer
        layers, recurrent layers and output layers; what is summed, and all weights, stay `float32`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    objective: Literal["likelihood", "self_critical"] = "likelihood"
    optimizer: Literal["adam", "adamw"] = "adamw"
    learning_rate: Positive = 0.001
    betas: tuple[Share, Share] = (0.9, 0.98)
    epsilon: Positive = 1e-9
    weight_decay: NotNegative = 0.0
    schedule: Literal["inverse_square_root", "noam", "constant", "linear"] = "inverse_square_root"
    warmup: Count = 1000
    cooldown: Share = 0.0
    label_smoothing: Share = 0.1
    r_drop: NotNegative = 0.0
    ponder_cost: NotNegative = 0.01
    doubly_stochastic: NotNegative = 0.0
    reinforce: ReinforceConfiguration = ReinforceConfiguration()
    teacher_forcing: TeacherForcingConfiguration = TeacherForcingConfiguration()
    gradient_clip: NotNegative = 1.0
    maximum_updates: Count = 100_000
    maximum_epochs: Count = 0
    validation_interval: AtLeastOne = 500
    patience: Count = 10
    metric: Metric = "bleu"
    validation_beam: AtLeastOne = 1
    validation_limit: Count = 0
    average: AverageConfiguration = AverageConfiguration()
    checkpoints: AtLeastOne = 2
    checkpoint_interval_seconds: NotNegative = 300.0
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    threads: Count = 0
    matrix_products: Literal["float32", "bfloat16"] = "float32"

    @model_validator(mode="after")
    def _schedule_ends(self) -> "TrainingConfiguration":
        if self.schedule == "linear" and self.maximum_updates <= self.warmup:
            raise ValueError(
                f"schedule linear falls to 0 at maximum_updates ({self.maximum_updates}), which "
                f"must be more than warmup ({self.warmup})"
            )
        return self


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
        decoder, training = self.model.decoder, self.training
        unfused = self.model.copies or decoder.kind == "hard_attention"
        blind = decoder.kind == "recurrent" and decoder.attend == "never"
        if training.doubly_stochastic and (unfused or blind):
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

    def as_dict(self) -> dict[str, Any]:
        """The configuration in YAML's and JSON's terms, every default written out."""
        return self.model_dump(mode="json", by_alias=True)


def _reads_pictures(data: Any) -> bool:
    """Whether data that are not checked yet ask for an encoder of pictures."""
    for key in ("model", "encoder"):
        data = data.get(key) if isinstance(data, dict) else None
    return isinstance(data, dict) and data.get("kind") == "grid"
