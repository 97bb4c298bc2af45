"""The optimizer: made from a configuration, its state as tensors with flat names."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from regard.training.configuration import TrainingConfiguration
from regard.training.tensors import Tensors

Optimizer = torch.optim.Adam | torch.optim.AdamW


def make_optimizer(model: nn.Module, configuration: TrainingConfiguration) -> Optimizer:
    """Adam or AdamW over all parameters; those with one dimension are not decayed."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {
            "params": [p for p in parameters if p.dim() > 1],
            "weight_decay": configuration.weight_decay,
        },
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    kind = torch.optim.AdamW if configuration.optimizer == "adamw" else torch.optim.Adam
    return kind(
        [group for group in groups if group["params"]],
        lr=configuration.learning_rate,
        betas=configuration.betas,
        eps=configuration.epsilon,
        fused=True,
    )


def set_learning_rate(optimizer: Optimizer, rate: float) -> None:
    """The rate of the next update."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def optimizer_tensors(model: nn.Module, optimizer: Optimizer) -> Tensors:
    """The optimizer's state as `<parameter>.<what>`, not copied; empty before the first update."""
    return {
        f"{name}.{what}": value
        for name, parameter in model.named_parameters()
        for what, value in optimizer.state.get(parameter, {}).items()
    }


def fill_optimizer(model: nn.Module, optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` gave."""
    parameters = dict(model.named_parameters())
    optimizer.state.clear()
    for flat, tensor in tensors.items():
        name, _, what = flat.rpartition(".")
        optimizer.state[parameters[name]][what] = tensor.clone()


def clip_gradients(model: nn.Module, limit: float) -> Tensor:
    """The norm of all gradients together, which are scaled down to `limit` when it is more.

    limit: 0 leaves the gradients as they are.
    """
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    if limit > 0:
        scale = limit / (norm + 1e-6)
        if scale < 1:
            torch._foreach_mul_(gradients, float(scale))
    return norm
