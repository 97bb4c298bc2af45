"""Tensors in files: safetensors alone, tied tensors once, every misfit told by name."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from regard.errors import UserError
from regard.files import require_file

Tensors = dict[str, Tensor]


def model_tensors(model: nn.Module) -> Tensors:
    """The model's own tensors by name, not copied: parameters, tied ones once, and buffers."""
    tensors = {name: parameter.detach() for name, parameter in model.named_parameters()}
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    kept = model.state_dict(keep_vars=True)
    buffers = {name: kept[name].detach() for name in kept if name not in parameters}
    return tensors | buffers


def encode_tensors(tensors: Mapping[str, Tensor], facts: Mapping[str, str]) -> bytes:
    """The content of a safetensors file, `facts` in its header."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    data: bytes = save(plain, metadata=dict(facts))
    return data


def read_tensors(path: Path, what: str) -> tuple[Tensors, dict[str, str]]:
    """The tensors of a file and the facts in its header. Raises UserError naming a damaged file."""
    with _opened(path, what) as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


def read_facts(path: Path, what: str) -> dict[str, str]:
    """The facts in a file's header alone. Raises as `read_tensors`."""
    with _opened(path, what) as file:
        return file.metadata() or {}


@contextmanager
def _opened(path: Path, what: str) -> Iterator[Any]:
    require_file(path, what)
    try:
        with safe_open(str(path), framework="pt") as file:
            yield file
    except (SafetensorError, OSError, ValueError) as error:
        raise UserError(
            f"{path} is damaged: it is not a whole safetensors file ({error})"
        ) from error


@torch.no_grad()
def fill_model(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Copy `tensors`, read from `path`, into the model.

    Raises UserError, before anything is changed, naming the first tensor that is missing, not the
    model's, or of another shape or kind of number.
    """
    own = model_tensors(model)
    for name, tensor in own.items():
        if name not in tensors:
            raise UserError(f"{path} does not fit its config.yaml: the tensor {name} is missing")
        found = tensors[name]
        if found.shape != tensor.shape or found.dtype != tensor.dtype:
            raise UserError(
                f"{path} does not fit its config.yaml: {name} is {_form(found)}, "
                f"it should be {_form(tensor)}"
            )
    for name in tensors:
        if name not in own:
            raise UserError(f"{path} does not fit its config.yaml: it has no place for {name}")
    for name, tensor in own.items():
        tensor.copy_(tensors[name])


def _form(tensor: Tensor) -> str:
    kind = str(tensor.dtype).removeprefix("torch.")
    return f"{kind}{list(tensor.shape)}"
