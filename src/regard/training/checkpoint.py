"""Checkpoints: all that training needs to go on as if it had never stopped.

One file each, `checkpoints/step-<updates>.safetensors`, which appears whole or not at all: the
parameters (`model.`), their exponential average where there is one (`average.`), the optimizer's
state (`optimizer.`), the random states (`random.`), and in the header, as JSON, the training state,
the rest of the random states, how long metrics.jsonl was, and the hashes of the data. Beside them
lie the validated weights (`weights-<updates>`) that a kept checkpoint knows as candidates for the
average.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from regard.errors import UserError
from regard.files import write_bytes, writing
from regard.training.exponential_average import ExponentialAverage
from regard.training.optimizer import Adam
from regard.training.random_state import random_tensors, restore_random
from regard.training.state import TrainingState, parse_state
from regard.training.tensors import (
    Tensors,
    encode_tensors,
    fill_model,
    model_tensors,
    read_facts,
    read_tensors,
)

_NAME = re.compile(r"(step|weights)-(\d{8,})\.safetensors")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint as it was read."""

    path: Path
    state: TrainingState
    metrics_position: int
    data: dict[str, Any]
    random: dict[str, Any]
    tensors: Tensors

    def restore(
        self, model: nn.Module, optimizer: Adam, average: ExponentialAverage | None = None
    ) -> None:
        """Bring model, optimizer, average and the global generators to where they were."""
        fill_model(model, self._part("model"), self.path)
        optimizer.fill(self._part("optimizer"))
        if average is not None:
            average.fill(self._part("average"))
        restore_random(self._part("random"), self.random)

    def _part(self, name: str) -> Tensors:
        prefix = f"{name}."
        return {
            key.removeprefix(prefix): tensor
            for key, tensor in self.tensors.items()
            if key.startswith(prefix)
        }


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the checkpoint of a step lies."""
    return folder / f"step-{step:08d}.safetensors"


def weights_path(folder: Path, step: int) -> Path:
    """Where the weights that were validated at a step lie."""
    return folder / f"weights-{step:08d}.safetensors"


def save_checkpoint(
    folder: Path,
    state: TrainingState,
    model: nn.Module,
    optimizer: Adam,
    average: ExponentialAverage | None = None,
    *,
    metrics_position: int,
    data: dict[str, Any],
    keep: int,
) -> Path:
    """Save a checkpoint, then delete what no kept one needs. Raises UserError when it cannot."""
    random, rest = random_tensors()
    parts = {
        "model": model_tensors(model),
        "optimizer": optimizer.tensors(),
        "random": random,
        "average": {} if average is None else average.tensors(),
    }
    tensors = {f"{part}.{name}": tensor for part in parts for name, tensor in parts[part].items()}
    facts = {
        "state": state.as_dict(),
        "metrics_position": metrics_position,
        "data": data,
        "random": rest,
    }
    path = checkpoint_path(folder, state.step)
    write_bytes(path, encode_tensors(tensors, {"checkpoint": json.dumps(facts)}))
    delete_old(folder, keep)
    return path


def latest_checkpoint(folder: Path) -> Path | None:
    """The checkpoint with the most updates; None when there is none."""
    steps = _steps(folder, "step")
    return checkpoint_path(folder, steps[-1]) if steps else None


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint. Raises UserError when it is damaged."""
    tensors, header = read_tensors(path, "a checkpoint")
    facts = _facts(path, header)
    try:
        return Checkpoint(path, state=parse_state(facts.pop("state")), tensors=tensors, **facts)
    except (TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{path} is damaged: its header is not a checkpoint's") from error


def delete_old(folder: Path, keep: int) -> None:
    """Delete all but the last `keep` checkpoints, and the weights that none of these knows."""
    steps = _steps(folder, "step")
    needed: set[int] = set()
    for step in steps[-keep:]:
        path = checkpoint_path(folder, step)
        state = _facts(path, read_facts(path, "a checkpoint"))["state"]
        needed.update(candidate["step"] for candidate in state["candidates"])
    with writing(folder):
        for step in steps[:-keep]:
            checkpoint_path(folder, step).unlink(missing_ok=True)
        for step in set(_steps(folder, "weights")) - needed:
            weights_path(folder, step).unlink(missing_ok=True)


def delete_partial(folder: Path) -> None:
    """Delete what a killed process left half-written in `folder`."""
    if folder.is_dir():
        with writing(folder):
            for path in folder.glob(".*.partial"):
                path.unlink(missing_ok=True)


def _steps(folder: Path, kind: str) -> list[int]:
    """The steps of all files of a kind, rising."""
    if not folder.is_dir():
        return []
    matches = (_NAME.fullmatch(path.name) for path in folder.iterdir())
    return sorted(int(match[2]) for match in matches if match and match[1] == kind)


def _facts(path: Path, header: dict[str, str]) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(header["checkpoint"])
    except (KeyError, ValueError) as error:
        raise UserError(f"{path} is damaged: its header is not a checkpoint's") from error
    return facts
