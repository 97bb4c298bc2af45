"""Tiny float64 models with every parameter random, biases too, and batches for them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.models import Model, ModelConfiguration, build_model

SOURCE_VOCABULARY, TARGET_VOCABULARY = 11, 13

#: Sentences of different lengths, so that a batch of them has padding; the first is the longest.
SOURCES = [[4, 9, 10, 5, 3], [7, 3], [6, 6, 8, 3]]
INPUTS = [[2, 12, 4], [2, 5, 11], [2, 8, 8]]


def build(
    configuration: dict[str, Any], *, target: int = TARGET_VOCABULARY, seed: int = 1
) -> Model:
    """A model in evaluation mode, recurrent unless said; parameters from N(0, 0.5^2)."""
    sides = {name: {"kind": "recurrent", **configuration[name]} for name in ("encoder", "decoder")}
    chosen = ModelConfiguration.model_validate({**configuration, **sides})
    model = build_model(chosen, SOURCE_VOCABULARY, target)
    return randomize(model, seed).double().eval()


def randomize(module: Any, seed: int = 1) -> Any:
    """The same module, every parameter from N(0, 0.5^2)."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5, generator=generator)
    return module


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """SOURCES with padding, their mask, and INPUTS."""
    longest = max(map(len, SOURCES))
    source = torch.tensor([row + [0] * (longest - len(row)) for row in SOURCES])
    mask = torch.tensor([[i < len(row) for i in range(longest)] for row in SOURCES])
    return source, mask, torch.tensor(INPUTS)


def assert_close(found: Tensor, expected: Any, tolerance: float = 1e-12) -> None:
    """Same shape and, to `tolerance`, same numbers."""
    assert found.dtype == torch.float64
    numbers = np.asarray(expected)
    assert tuple(found.shape) == numbers.shape
    assert np.abs(found.detach().numpy() - numbers).max() < tolerance
