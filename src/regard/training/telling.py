"""Telling: what a run is trained on, for metrics.jsonl and for people."""

from platform import python_version
from typing import Any, NamedTuple

import torch

from regard import __version__
from regard.data.batches import bucket, padding_share
from regard.data.pairs import Pairs
from regard.data.tokenizers import Tokenizers
from regard.training.preparation import Request, grid_of
from regard.training.run import vocabulary_of
from regard.training.session import Session


def facts(request: Request, session: Session) -> dict[str, Any]:
    """What the first line of metrics.jsonl tells: data, model, machine."""
    data, batching = session.data, session.configuration.batching
    grid = grid_of(request.train)
    batches = bucket(data.examples, batching, session.configuration.training.seed, 0)
    return {
        "pairs": len(data.pairs),
        "too_long": len(request.train) - len(data.pairs),
        "blank": request.train.blank,
        "validation_pairs": len(request.valid),
        "validation_sources": len(data.validation.asked),
        "validation_blank": request.valid.blank,
        "validation_seen": data.baseline.seen,
        "validation_unseen": data.validation.coverage.unseen,
        "validation_unreachable": data.validation.coverage.unreachable,
        "baseline": data.baseline.score,
        "vocabulary": vocabulary_of(session.tokenizers, grid).as_dict(),
        "joint": session.tokenizers.joint,
        "parameters": sum(parameter.numel() for parameter in session.model.parameters()),
        "batches": len(batches),
        "padding": padding_share(data.examples, batches),
        "threads": session.configuration.training.threads,
        "versions": versions(),
        **({"links": data.pairs.links} if data.pairs.have_alignments else {}),
        **({} if grid is None else {"grid": grid._asdict()}),
        **({} if request.backbone is None else {"backbone": request.backbone.fingerprint}),
    }


def versions() -> dict[str, str]:
    """What the numbers of a run also depend on."""
    return {"regard": __version__, "torch": torch.__version__, "python": python_version()}


class _Words(NamedTuple):
    """What a person calls the data: pairs, their sources, and what answers them without a model."""

    pairs: str
    sources: str
    trivial: str


_TEXTS = _Words("pairs", "sources", "copying or memorizing alone")
_PICTURES = _Words("captions", "pictures", "the most frequent caption or memorizing alone")


def tell(request: Request, session: Session, told: dict[str, Any]) -> None:
    """Say to a person what `facts` gave."""
    words = _PICTURES if request.train.have_pictures else _TEXTS
    limit = session.configuration.batching.maximum_length
    left_out = f", {told['too_long']:,} left out (longer than {limit} tokens)"
    blank = f", {told['blank']:,} dropped (a side is blank)"
    links = f", with {told['links']:,} links of their words" if "links" in told else ""
    count = told["validation_seen"]
    seen = f", {count:,} of them in the training data too" if count else ""
    for text in (
        f"training on {told['pairs']:,} {words.pairs} of {request.train.origin}"
        f"{left_out if told['too_long'] else ''}{blank if told['blank'] else ''}{links}",
        f"validating on {told['validation_sources']:,} {words.sources} of "
        f"{request.valid.origin}{seen}; {words.trivial}: {session.configuration.training.metric} "
        f"{told['baseline']:.2f}",
        *session.data.validation.coverage.messages(words.sources),
        f"{session.configuration.recipe}: {told['parameters']:,} parameters, a vocabulary of "
        f"{_sizes(told)}, {told['batches']:,} batches an epoch, {told['padding']:.1%} padding, "
        f"{told['threads']} thread{'s' if told['threads'] > 1 else ''}",
    ):
        session.reporter.message(text)
    unseen = _unseen_features(session.tokenizers, request.valid)
    if unseen:
        session.reporter.message(
            f"{request.valid.origin} has features that training never sees, which are read as "
            f"unknown: {', '.join(unseen)}"
        )


def _sizes(told: dict[str, Any]) -> str:
    """How many symbols there are, and what grids are like."""
    sizes = told["vocabulary"]
    features = sizes.get("features", 0)
    texts = [sizes.get("source", 0) - features, sizes["target"]][told["joint"] :]
    symbols = " and ".join(f"{size:,}" for size in texts)
    symbols += f" symbols and {features:,} of features" if features else " symbols"
    if "grid" not in told:
        return symbols
    grid = told["grid"]
    return f"{symbols}, grids of {grid['rows']} x {grid['columns']} vectors of {grid['size']:,}"


def _unseen_features(tokenizers: Tokenizers, pairs: Pairs) -> list[str]:
    """The different symbols of the pairs' features that the vocabulary lacks."""
    known, tags = tokenizers.features, pairs.features()
    if known is None or tags is None:
        return []
    return list(dict.fromkeys(symbol for tag in tags for symbol in known.unseen(tag)))
