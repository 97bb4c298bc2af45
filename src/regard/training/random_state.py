"""Random states: seeded together, kept as tensors, put back exactly."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from regard.training.tensors import Tensors


def seed_everything(seed: int) -> None:
    """Seed the global generators of torch, numpy and Python."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def random_tensors() -> tuple[Tensors, dict[str, Any]]:
    """The states of the three generators: their words as tensors, the rest in JSON's terms."""
    _, words, position, has_gauss, gauss = np.random.get_state(legacy=True)
    version, python_words, python_gauss = random.getstate()
    tensors = {
        "torch": torch.get_rng_state(),
        "numpy": torch.from_numpy(np.asarray(words).astype(np.int64)),
        "python": torch.tensor(python_words, dtype=torch.int64),
    }
    rest = {
        "numpy": [int(position), int(has_gauss), float(gauss)],
        "python": [version, python_gauss],
    }
    return tensors, rest


def restore_random(tensors: Mapping[str, torch.Tensor], rest: Mapping[str, Any]) -> None:
    """Put back what `random_tensors` gave."""
    torch.set_rng_state(tensors["torch"])
    words = tensors["numpy"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", words, *rest["numpy"]))
    version, gauss = rest["python"]
    random.setstate((version, tuple(tensors["python"].tolist()), gauss))
