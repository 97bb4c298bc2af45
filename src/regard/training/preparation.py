"""Preparation: from what was asked for to a session that can be trained."""

from dataclasses import dataclass
from pathlib import Path
from platform import python_version
from typing import Any

import torch

from regard import __version__
from regard.data.batches import bucket, encode_pairs, fit, padding_share
from regard.data.pairs import Pairs
from regard.data.tokenizers import Tokenizers
from regard.errors import UserError
from regard.models import Model
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
from regard.training.run import METRICS, model_for, vocabulary_of
from regard.training.session import Data, Session
from regard.training.shards import Shards
from regard.training.validation import ValidationData, prepare_validation


@dataclass(frozen=True)
class Request:
    """What `train` was asked for."""

    configuration: Configuration
    train: Pairs
    valid: Pairs
    out: Path
    budget: Budget
    reporter: Reporter
    stop: Stop


def hashes(request: Request) -> dict[str, str]:
    """What names the pairs in a checkpoint."""
    return {"training": fingerprint(request.train), "validation": fingerprint(request.valid)}


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
    model = model_for(configuration, tokenizers)
    _check_reach(request.valid, validation, model)
    average = configuration.training.average
    exponential = average.kind == "exponential"
    return Session(
        configuration=configuration,
        directory=request.out,
        tokenizers=tokenizers,
        data=Data(fitting.pairs, fitting.examples, validation, baseline, hashes(request)),
        model=model,
        optimizer=Adam(model, configuration.training),
        shards=Shards(model, configuration.training.threads),
        log=MetricsLog(request.out / METRICS),
        reporter=request.reporter,
        stop=request.stop,
        budget=request.budget,
        average=ExponentialAverage(model, average.decay) if exponential else None,
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


def facts(request: Request, session: Session) -> dict[str, Any]:
    """What the first line of metrics.jsonl tells: data, model, machine."""
    data, batching = session.data, session.configuration.batching
    batches = bucket(data.examples, batching, session.configuration.training.seed, 0)
    return {
        "pairs": len(data.pairs),
        "too_long": len(request.train) - len(data.pairs),
        "blank": request.train.blank,
        "validation_pairs": len(request.valid),
        "validation_sources": len(data.validation.sources),
        "validation_blank": request.valid.blank,
        "validation_seen": data.baseline.seen,
        "validation_unseen": data.validation.coverage.unseen,
        "validation_unreachable": data.validation.coverage.unreachable,
        "baseline": data.baseline.score,
        "vocabulary": vocabulary_of(session.tokenizers).as_dict(),
        "joint": session.tokenizers.joint,
        "parameters": sum(parameter.numel() for parameter in session.model.parameters()),
        "batches": len(batches),
        "padding": padding_share(data.examples, batches),
        "threads": session.configuration.training.threads,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """What the numbers of a run also depend on."""
    return {"regard": __version__, "torch": torch.__version__, "python": python_version()}


def tell(request: Request, session: Session, told: dict[str, Any]) -> None:
    """Say to a person what `facts` gave."""
    limit = session.configuration.batching.maximum_length
    left_out = f", {told['too_long']:,} left out (longer than {limit} tokens)"
    blank = f", {told['blank']:,} dropped (a side is blank)"
    sizes = told["vocabulary"]
    features = sizes.get("features", 0)
    texts = [sizes["source"] - features, sizes["target"]][told["joint"] :]
    symbols = " and ".join(f"{size:,}" for size in texts)
    symbols += f" symbols and {features:,} of features" if features else " symbols"
    count = told["validation_seen"]
    seen = f", {count:,} of them in the training data too" if count else ""
    for text in (
        f"training on {told['pairs']:,} pairs of {request.train.origin}"
        f"{left_out if told['too_long'] else ''}{blank if told['blank'] else ''}",
        f"validating on {told['validation_sources']:,} sources of {request.valid.origin}{seen}; "
        f"copying or memorizing alone: {session.configuration.training.metric} "
        f"{told['baseline']:.2f}",
        *session.data.validation.coverage.messages(),
        f"{session.configuration.recipe}: {told['parameters']:,} parameters, a vocabulary of "
        f"{symbols}, {told['batches']:,} batches an epoch, {told['padding']:.1%} padding, "
        f"{told['threads']} thread{'s' if told['threads'] > 1 else ''}",
    ):
        session.reporter.message(text)
    unseen = _unseen_features(session.tokenizers, request.valid)
    if unseen:
        session.reporter.message(
            f"{request.valid.origin} has features that training never sees, which are read as "
            f"unknown: {', '.join(unseen)}"
        )


def _unseen_features(tokenizers: Tokenizers, pairs: Pairs) -> list[str]:
    """The different symbols of the pairs' features that the vocabulary lacks."""
    known, tags = tokenizers.features, pairs.features()
    if known is None or tags is None:
        return []
    return list(dict.fromkeys(symbol for tag in tags for symbol in known.unseen(tag)))


def check_request(request: Request) -> None:
    """Raises UserError for data or settings with which training makes no sense or never ends."""
    for pairs, what in ((request.train, "training"), (request.valid, "validation")):
        if not len(pairs):
            raise UserError(f"{pairs.origin}: there are no {what} pairs; give at least one")
    if request.train.have_features != request.valid.have_features:
        one, other = request.train, request.valid
        if other.have_features:
            one, other = other, one
        raise UserError(f"{one.origin} has features and {other.origin} has none: give both some")
    training = request.configuration.training
    if request.budget.seconds is None and not (
        training.maximum_updates or training.maximum_epochs or training.patience
    ):
        raise UserError(
            "nothing would ever end this training: give --minutes, or set "
            "training.maximum_updates, training.maximum_epochs or training.patience"
        )
