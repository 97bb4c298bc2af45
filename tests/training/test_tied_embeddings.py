"""Matrices that are one stay one: when made, in a run directory, and when it is loaded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.models import Model, ModelConfiguration, build_model
from regard.training.run import load_run
from regard.training.tensors import read_tensors

KINDS: dict[str, dict[str, Any]] = {
    "transformer": {"layers": 1},
    "universal_transformer": {"steps": 2, "adaptive": "graves"},
}
NAMES = ("source_embedding.weight", "target_embedding.weight", "output.weight")


def storages(model: Model) -> list[int]:
    """Where the three matrices lie."""
    return [model.get_parameter(name).data_ptr() for name in NAMES]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tie_output", [False, True])
@pytest.mark.parametrize("share", [False, True])
def test_every_combination_is_one_storage(
    untrained_run: Callable[..., Path], kind: str, share: bool, tie_output: bool, tmp_path: Path
) -> None:
    """None, source and target, target and output, all three: saved once, one again when loaded."""
    part = {"kind": kind, "heads": 2, "feed_forward_size": 8, **KINDS[kind]}
    embedding = {"size": 8, "share": share, "tie_output": tie_output, "scaled": True}
    sections = {"embedding": embedding, "encoder": part, "decoder": part}
    made = build_model(ModelConfiguration.model_validate(sections), 12, 12)
    source, target, output = storages(made)
    assert (source == target, target == output) == (share, tie_output)

    run = untrained_run(tmp_path / "run", sections)
    saved, _ = read_tensors(run / "model.safetensors", "a model")
    assert len(saved.keys() & set(NAMES)) == 3 - share - tie_output
    loaded = load_run(run).model
    source, target, output = storages(loaded)
    assert (source == target, target == output) == (share, tie_output)
    before = [loaded.get_parameter(name).clone() for name in NAMES]
    with torch.no_grad():
        loaded.output.weight.add_(1.0)  # a change of one is a change of all that it is
    moved = [
        not torch.equal(loaded.get_parameter(name), matrix)
        for name, matrix in zip(NAMES, before, strict=True)
    ]
    assert moved == [share and tie_output, tie_output, True]
