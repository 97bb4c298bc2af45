"""The ``training`` section of a recipe: how weights are found."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from regard.data.images.views import ORIGINAL, check_views
from regard.errors import UserError

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


def _known_views(views: tuple[str, ...]) -> tuple[str, ...]:
    try:
        check_views(views)
    except UserError as error:
        raise ValueError(str(error)) from error
    return views


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
    supervision: lambda, what it weighs that attention is not at given links (Mi et al. 2016);
        without any it means nothing. 0 = off.
    reinforce: of hard attention alone.
    teacher_forcing: how often the decoder reads gold tokens.
    views: of pictures, `original` first (`regard.data.images.views`): each epoch takes one of them,
        drawn anew, for each caption.
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
    supervision: NotNegative = 0.1
    reinforce: ReinforceConfiguration = ReinforceConfiguration()
    teacher_forcing: TeacherForcingConfiguration = TeacherForcingConfiguration()
    views: Annotated[tuple[str, ...], AfterValidator(_known_views)] = (ORIGINAL,)
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
