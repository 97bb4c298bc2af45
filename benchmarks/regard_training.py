"""How regard is told to train its recipe on the vocabulary that its peers are given."""

import sys
from pathlib import Path

from corpus import Corpus
from measurement import MeasurementError
from regard.data.tokenizers import load_tokenizers
from workload import Workload

_MINUTES = 30  # a budget that no window reaches: the benchmark ends the run itself
_NEVER = 1_000_000  # steps, or seconds


def command(
    data: tuple[str, str, str, str], workload: Workload, directory: Path, threads: int
) -> tuple[list[str], Path]:
    """The command that trains on (train, valid, source, target), and the record that it writes."""
    train, valid, source, target = data
    run = directory / "run"
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
    }
    arguments = [
        *("train", "transformer-tiny", "--train", train, "--valid", valid),
        *("--source", source, "--target", target, "--out", str(run)),
        *("--minutes", str(_MINUTES), "--threads", str(threads), "--seed", str(workload.seed)),
    ]
    for key, value in settings.items():
        arguments += ["--set", f"{key}={value}"]
    return [str(Path(sys.executable).with_name("regard")), *arguments], run / "metrics.jsonl"


def check_vocabulary(run: Path, corpus: Corpus) -> None:
    """Raise MeasurementError unless the run made the very subwords that the peers were given."""
    model = getattr(load_tokenizers(run / "tokenizer").target, "model", None)
    if model != corpus.subwords.read_bytes():
        raise MeasurementError(f"the vocabulary of {run} is not the one that its peers were given")
