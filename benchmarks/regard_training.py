"""How regard is told to train its recipe on the vocabulary that its peers are given."""

import json
import sys
from pathlib import Path

from corpus import Corpus
from measurement import MeasurementError, moments
from regard.data.tokenizers import load_tokenizers
from workload import Workload

SCRIPT = Path(__file__).parent / "peers" / "counted" / "train_regard.py"
_MINUTES = 30  # a budget that no window reaches: the benchmark ends the run itself
_NEVER = 1_000_000  # steps, or seconds


def command(
    data: tuple[str, str, str, str],
    workload: Workload,
    directory: Path,
    threads: int,
    products: str = "float32",
) -> tuple[list[str], Path]:
    """`regard train` on (train, valid, source, target), counted, and the record that it writes.

    products: `training.matrix_products`.
    """
    train, valid, source, target = data
    run, record = directory / "run", directory / "record.jsonl"
    settings = {
        "tokenization.source.size": workload.vocabulary,
        "tokenization.target.size": workload.vocabulary,
        "tokenization.source.algorithm": "unigram",
        "tokenization.target.algorithm": "unigram",
        "tokenization.source.sampling": 0,
        "tokenization.target.sampling": 0,
        "batching.tokens": workload.batch_tokens,
        "training.validation_interval": _NEVER,
        "training.checkpoint_interval_seconds": _NEVER,
        "training.matrix_products": products,
    }
    arguments = [
        *("train", "transformer-tiny", "--train", train, "--valid", valid),
        *("--source", source, "--target", target, "--out", str(run)),
        *("--minutes", str(_MINUTES), "--threads", str(threads), "--seed", str(workload.seed)),
        "--no-report",
    ]
    for key, value in settings.items():
        arguments += ["--set", f"{key}={value}"]
    return [sys.executable, str(SCRIPT), str(record), *arguments], record


def check(directory: Path, corpus: Corpus) -> None:
    """Raise MeasurementError unless the peers' subwords were used and regard counts as we do."""
    check_vocabulary(directory / "run", corpus)
    check_tokens(directory / "run" / "metrics.jsonl", directory / "record.jsonl")


def check_tokens(metrics: Path, record: Path) -> None:
    """Raise MeasurementError unless regard's own record counts the same target tokens."""
    counted, _ = moments(record.read_text(encoding="utf-8").split("\n")[:-1])
    totals = {moment.step: moment.target_tokens for moment in counted}
    for line in metrics.read_text(encoding="utf-8").split("\n")[:-1]:
        told = json.loads(line)
        expected = totals.get(told["step"])
        if told["kind"] == "training" and told["target_tokens"] != expected:
            raise MeasurementError(
                f"{metrics} has {told['target_tokens']} target tokens after {told['step']} steps, "
                f"{expected} were counted"
            )


def check_vocabulary(run: Path, corpus: Corpus) -> None:
    """Raise MeasurementError unless the run made the very subwords that the peers were given."""
    model = getattr(load_tokenizers(run / "tokenizer").target, "model", None)
    if model != corpus.subwords.read_bytes():
        raise MeasurementError(f"the vocabulary of {run} is not the one that its peers were given")
