"""Preparation: from what was asked for to a session that can be trained."""

from dataclasses import dataclass
from pathlib import Path

from regard.data.batches import encode_pairs, fit
from regard.data.images.backbone import Backbone
from regard.data.pairs import Pairs
from regard.data.tokenizers import Tokenizers
from regard.errors import UserError
from regard.models import GridShape, Model
from regard.nn.kernels.products import multiplies_bfloat16
from regard.training.baseline import measure_baseline
from regard.training.budget import Budget
from regard.training.configuration import Configuration
from regard.training.continuation import fingerprint
from regard.training.exponential_average import ExponentialAverage
from regard.training.interruption import Stop
from regard.training.metrics import MetricsLog
from regard.training.optimizer import Adam
from regard.training.progress import Reporter
from regard.training.random_state import seed_everything
from regard.training.rewards import CaptionRewards
from regard.training.run import METRICS, Run, model_for
from regard.training.session import Data, Session
from regard.training.shards import Shards
from regard.training.validation import ValidationData, prepare_validation


@dataclass(frozen=True)
class Request:
    """What `train` was asked for.

    backbone: what made the pictures of the pairs; the run directory keeps it. None without any.
    begun: the run whose weights and tokenizers it begins with; None = weights of its own.
    """

    configuration: Configuration
    train: Pairs
    valid: Pairs
    out: Path
    budget: Budget
    reporter: Reporter
    stop: Stop
    backbone: Backbone | None = None
    begun: Run | None = None


def hashes(request: Request) -> dict[str, str]:
    """What names the data in a checkpoint."""
    names = {"training": fingerprint(request.train), "validation": fingerprint(request.valid)}
    return names if request.backbone is None else names | {"backbone": request.backbone.fingerprint}


def prepare(request: Request, tokenizers: Tokenizers) -> Session:
    """Encode the data and build the model; everything random starts from the seed.

    Raises UserError when no pair is short enough, a validation source is longer than the model can
    read, or the model's sizes do not fit together.
    """
    configuration = request.configuration
    examples = encode_pairs(request.train, tokenizers, opened=configuration.model.copies)
    fitting = fit(request.train, examples, configuration.batching)
    validation = prepare_validation(request.valid, tokenizers, configuration)
    metric, kind = configuration.training.metric, tokenizers.target.kind
    baseline = measure_baseline(request.train, validation, metric, kind)
    seed_everything(configuration.training.seed)
    model = model_for(configuration, tokenizers, grid_of(request.train))
    if request.begun is not None:
        model.load_state_dict(request.begun.model.state_dict())
    _check_reach(request.valid, validation, model)
    average = configuration.training.average
    exponential = average.kind == "exponential"
    rewards = None
    if configuration.training.objective == "self_critical":
        rewards = CaptionRewards.of(fitting.pairs, tokenizers.target)
    return Session(
        configuration=configuration,
        directory=request.out,
        tokenizers=tokenizers,
        data=Data(fitting.pairs, fitting.examples, validation, baseline, hashes(request)),
        model=model,
        optimizer=Adam(model, configuration.training),
        shards=Shards(
            model,
            configuration.training.threads,
            rounded=configuration.training.matrix_products == "bfloat16",
        ),
        log=MetricsLog(request.out / METRICS),
        reporter=request.reporter,
        stop=request.stop,
        budget=request.budget,
        average=ExponentialAverage(model, average.decay) if exponential else None,
        rewards=rewards,
    )


def grid_of(pairs: Pairs) -> GridShape | None:
    """What a model reads of the pairs' pictures; None where sources are texts."""
    picture = pairs[0].picture
    if picture is None:
        return None
    return GridShape(picture.grids.rows, picture.grids.columns, picture.grids.size)


def _check_views(request: Request) -> None:
    """Raises UserError where the pictures to learn from lack views that are asked for."""
    picture, views = request.train[0].picture, request.configuration.training.views
    if picture is not None and picture.grids.views != len(views):
        raise UserError(
            f"{request.train.origin}: there are {picture.grids.views} views of each picture, and "
            f"training.views names {len(views)}: {', '.join(views)}"
        )


def _check_reach(valid: Pairs, validation: ValidationData, model: Model) -> None:
    """Raises UserError for a validation pair that is longer than the model reads or writes."""
    sides = {
        "source": (model.longest_source, [len(each.source) for each in validation.examples]),
        "target": (model.longest_target, [len(each.target) for each in validation.examples]),
    }
    for side, (limit, lengths) in sides.items():
        if limit is not None and max(lengths) > limit:
            raise UserError(
                f"{valid.origin}: the longest {side} has {max(lengths)} tokens with the end "
                f"symbol; this model has at most {limit}: leave such pairs out, or raise the "
                "model's maximum_positions"
            )


def check_request(request: Request) -> None:
    """Raises UserError for data or settings with which training makes no sense or never ends."""
    for pairs, what in ((request.train, "training"), (request.valid, "validation")):
        if not len(pairs):
            raise UserError(f"{pairs.origin}: there are no {what} pairs; give at least one")
        _check_sources(request, pairs)
    if grid_of(request.train) != grid_of(request.valid):
        raise UserError(
            f"{request.train.origin} and {request.valid.origin} have grids of different shapes: "
            "make the features of all pictures alike"
        )
    _check_views(request)
    if request.train.have_features != request.valid.have_features:
        one, other = request.train, request.valid
        if other.have_features:
            one, other = other, one
        raise UserError(f"{one.origin} has features and {other.origin} has none: give both some")
    _check_alignments(request)
    training = request.configuration.training
    if training.matrix_products == "bfloat16" and not multiplies_bfloat16():
        raise UserError(
            "training.matrix_products: this processor does not multiply bfloat16 itself, and would "
            "take longer with it; set it to float32"
        )
    if request.budget.seconds is None and not (
        training.maximum_updates or training.maximum_epochs or training.patience
    ):
        raise UserError(
            "nothing would ever end this training: give --minutes, or set "
            "training.maximum_updates, training.maximum_epochs or training.patience"
        )


def _check_alignments(request: Request) -> None:
    """Raises UserError where links are given and attention cannot learn from them."""
    if not request.train.have_alignments:
        return
    configuration = request.configuration
    what = f"{request.train.origin} has alignments, and "
    if not configuration.attention_reaches_the_loss or configuration.model.draws:
        raise UserError(
            f"{what}the recipe {configuration.recipe} cannot learn its attention from them: choose "
            "one whose decoder attends softly and does not copy, such as transformer-tiny"
        )
    if not configuration.training.supervision:
        raise UserError(f"{what}training.supervision is 0: set it to more, such as 0.1")
    if configuration.tokenization.sampled:
        raise UserError(
            f"{what}links are of words that are cut in one way: set tokenization.*.sampling to 0"
        )


def _check_sources(request: Request, pairs: Pairs) -> None:
    """Raises UserError where a recipe for texts is given pictures, or the other way round."""
    recipe = request.configuration.recipe
    if request.configuration.model.reads_pictures == pairs.have_pictures:
        return
    if pairs.have_pictures:
        raise UserError(
            f"the recipe {recipe} reads texts, and {pairs.origin} has pictures: choose one whose "
            "model.encoder is of kind grid, such as show-attend-tell-soft"
        )
    raise UserError(
        f"the recipe {recipe} reads pictures, and {pairs.origin} has none: give captions and "
        "--images, or choose a recipe for texts"
    )
