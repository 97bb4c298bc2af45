"""Checkpoints: whole or not at all, kept and deleted, damaged."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from regard.errors import UserError
from regard.training.checkpoint import (
    delete_partial,
    latest_checkpoint,
    read_checkpoint,
    save_checkpoint,
    weights_path,
)
from regard.training.configuration import TrainingConfiguration
from regard.training.optimizer import Adam
from regard.training.random_state import random_tensors, restore_random, seed_everything
from regard.training.state import Candidate, TrainingState


def save(folder: Path, state: TrainingState, keep: int = 2) -> tuple[nn.Module, Adam, Path]:
    folder.mkdir(exist_ok=True)
    torch.manual_seed(state.step)
    model = nn.Linear(2, 3)
    adam = Adam(model, TrainingConfiguration())
    model(torch.ones(1, 2)).sum().backward()
    adam.update(0.1)
    facts = {"metrics_position": 7, "data": {"training": "hash"}, "keep": keep}
    return model, adam, save_checkpoint(folder, state, model, adam, **facts)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_everything_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    seed_everything(3)
    random.gauss(0, 1), np.random.standard_normal()  # both keep a second draw for the next call
    state = TrainingState(step=5, epoch=1, best=Candidate(4, 0.1 + 0.2), training_seconds=1 / 3)
    model, adam, path = save(folder, state)
    drawn = (torch.rand(3), np.random.standard_normal(3), random.gauss(0, 1), random.random())
    checkpoint = read_checkpoint(path)
    assert checkpoint.state == state
    assert (checkpoint.metrics_position, checkpoint.data) == (7, {"training": "hash"})
    other = nn.Linear(2, 3)
    optimizer = Adam(other, TrainingConfiguration())
    checkpoint.restore(other, optimizer)
    assert torch.equal(other.weight, model.weight) and torch.equal(other.bias, model.bias)
    for name, tensor in adam.tensors().items():
        assert torch.equal(optimizer.tensors()[name], tensor), name
    again = (torch.rand(3), np.random.standard_normal(3), random.gauss(0, 1), random.random())
    assert torch.equal(drawn[0], again[0]) and np.array_equal(drawn[1], again[1])
    assert drawn[2:] == again[2:]


def test_random_states_alone() -> None:
    seed_everything(1)
    first = (torch.rand(1), np.random.rand(), random.random())
    tensors, rest = random_tensors()
    second = (torch.rand(1), np.random.rand(), random.random())
    restore_random(tensors, rest)
    assert (torch.rand(1), np.random.rand(), random.random()) == second
    seed_everything(1)
    assert (torch.rand(1), np.random.rand(), random.random()) == first


def test_the_last_ones_are_kept_with_the_weights_they_know(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    candidates = [Candidate(step, step) for step in (1, 2, 3)]
    for step in (1, 2, 3):
        weights_path(folder, step).write_bytes(b"")
        save(folder, TrainingState(step=step, candidates=candidates[max(0, step - 2) : step]))
    assert names(folder) == [
        "step-00000002.safetensors",
        "step-00000003.safetensors",
        "weights-00000001.safetensors",  # the checkpoint of step 2 knows it
        "weights-00000002.safetensors",
        "weights-00000003.safetensors",
    ]
    save(folder, TrainingState(step=4, candidates=candidates[1:]))
    save(folder, TrainingState(step=5, candidates=candidates[2:]), keep=1)
    assert names(folder) == ["step-00000005.safetensors", "weights-00000003.safetensors"]


def test_the_latest_is_the_one_with_most_updates(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    assert latest_checkpoint(tmp_path / "nowhere") is None
    for step in (99_999_999, 100_000_000):
        (tmp_path / f"step-{step}.safetensors").touch()
    (tmp_path / "weights-999999999.safetensors").touch()
    (tmp_path / ".step-200000000.safetensors.1.partial").touch()
    latest = latest_checkpoint(tmp_path)
    assert latest is not None and latest.name == "step-100000000.safetensors"


def test_damage_is_named(tmp_path: Path) -> None:
    _, _, path = save(tmp_path / "checkpoints", TrainingState(step=1))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(UserError, match=r"step-00000001\.safetensors is damaged"):
        read_checkpoint(path)
    for old, new in ((b'\\"step\\"', b'\\"stop\\"'), (b'"checkpoint"', b'"checkpoinx"')):
        assert old in whole
        path.write_bytes(whole.replace(old, new))
        with pytest.raises(UserError, match="its header is not a checkpoint's"):
            read_checkpoint(path)


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "checkpoints"
    _, _, path = save(folder, TrainingState(step=1))
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    for step in (1, 2):
        with pytest.raises(UserError, match="the disk is full"):
            save(folder, TrainingState(step=step))
    assert names(folder) == [path.name] and path.read_bytes() == before


def test_what_a_killed_process_left_is_deleted(tmp_path: Path) -> None:
    (tmp_path / ".step-00000001.safetensors.123.partial").touch()
    (tmp_path / "step-00000001.safetensors").touch()
    delete_partial(tmp_path)
    delete_partial(tmp_path / "nowhere")
    assert names(tmp_path) == ["step-00000001.safetensors"]
