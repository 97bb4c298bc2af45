"""A captioner of scenes that the command line trains in seconds."""

from pathlib import Path

#: Settings that make `show-attend-tell-soft` a small model of scenes, trained in seconds.
SMALL = (
    "backbone={name: patches, image_size: 32, grid: 4}",
    "tokenization.target={kind: space}",
    "model.embedding.size=16",
    "model.encoder={kind: grid, size: 16, positions: learned}",
    "model.decoder.size=24",
    "model.decoder.attention.size=16",
    "training.maximum_updates=8",
    "training.validation_interval=8",
    "training.warmup=5",
    "training.learning_rate=0.01",
    "batching.tokens=256",
    "training.average.kind=none",
    "training.threads=1",
    "search.maximum_length_extra=12",
)


def train(data: Path, out: Path, *more: object) -> list[object]:
    settings = [part for setting in SMALL for part in ("--set", setting)]
    return ["train", "show-attend-tell-soft", "--train", data, "--out", out, *settings, *more]
