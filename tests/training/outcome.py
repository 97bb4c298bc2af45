"""What two trainings must have in common to be the same training."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.training.checkpoint import latest_checkpoint, read_checkpoint
from regard.training.metrics import read_metrics

_TIMES = ("seconds", "elapsed_seconds", "validation_seconds")


@dataclass
class Outcome:
    """Files byte by byte, the last checkpoint tensor by tensor, metrics but for their times."""

    files: dict[str, bytes]
    tensors: dict[str, torch.Tensor]
    state: dict[str, Any]
    metrics: list[dict[str, Any]]


def outcome(directory: Path) -> Outcome:
    """Of a run directory."""
    path = latest_checkpoint(directory / "checkpoints")
    assert path is not None
    checkpoint = read_checkpoint(path)
    files = [
        *directory.glob("*.safetensors"),
        *directory.glob("tokenizer/*"),
        *directory.glob("checkpoints/weights-*"),
    ]
    state = checkpoint.state.as_dict()
    lines = read_metrics(directory / "metrics.jsonl")
    return Outcome(
        {str(file.relative_to(directory)): file.read_bytes() for file in files},
        checkpoint.tensors,
        {key: value for key, value in state.items() if not key.endswith("seconds")},
        [
            {key: value for key, value in line.items() if key not in _TIMES}
            for line in lines
            if line["kind"] != "resume"
        ],
    )


def assert_same(first: Path, second: Path) -> None:
    """Both directories hold the same training."""
    one, other = outcome(first), outcome(second)
    assert one.tensors.keys() == other.tensors.keys()
    for name, tensor in one.tensors.items():
        assert torch.equal(tensor, other.tensors[name]), name
    assert one.state == other.state
    assert one.metrics == other.metrics
    assert one.files.keys() == other.files.keys()
    for name, data in one.files.items():
        assert data == other.files[name], name
