"""The optimizer: Adam or AdamW, its state as tensors with flat names.

`torch.optim` is not used: making one of its optimizers imports the compiler, which takes seconds.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from regard.errors import UserError
from regard.training.configuration import TrainingConfiguration
from regard.training.tensors import Tensors

_UPDATES, _FIRST, _SECOND = "updates", "first_moment", "second_moment"


class Adam:
    """Adam (Kingma and Ba 2015, algorithm 1) over all parameters of a model.

    With g the gradient, m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2, and t updates so far,
    each parameter moves by - rate * m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon).
    weight_decay w adds w * parameter to g for `adam`, and shrinks the parameter by rate * w at each
    update for `adamw` (Loshchilov and Hutter 2019, algorithm 2). Parameters with one dimension
    (biases, norms) are not decayed. `rate` is that of the last update.
    """

    def __init__(self, model: nn.Module, configuration: TrainingConfiguration) -> None:
        self.configuration = configuration
        self.parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.updates = 0
        self.rate = 0.0
        self.first = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        self.second = {name: torch.zeros_like(p) for name, p in self.parameters.items()}

    def forget_gradients(self) -> None:
        """Before a backward pass: gradients start anew."""
        for parameter in self.parameters.values():
            parameter.grad = None

    @torch.no_grad()
    def update(self, rate: float) -> None:
        """Move every parameter that has a gradient."""
        self.updates, self.rate = self.updates + 1, rate
        decay = self.configuration.weight_decay
        moved = {n: p for n, p in self.parameters.items() if p.grad is not None}
        matrices = [name for name, parameter in moved.items() if parameter.dim() > 1]
        vectors = [name for name, parameter in moved.items() if parameter.dim() <= 1]
        for names, share in ((matrices, decay), (vectors, 0.0)):
            if names:
                move = _fused if hasattr(torch, "_fused_adamw_") else _plain
                move(self, names, rate, share)

    def tensors(self) -> Tensors:
        """The state, not copied."""
        moments = ((_FIRST, self.first), (_SECOND, self.second))
        named = {f"{name}.{kind}": m for kind, all_of in moments for name, m in all_of.items()}
        return {_UPDATES: torch.tensor(self.updates), **named}

    def fill(self, tensors: Mapping[str, Tensor]) -> None:
        """Put back what `tensors` gave. Raises UserError when it is not of these parameters."""
        own = self.tensors()
        for name, tensor in own.items():
            if name not in tensors or tensors[name].shape != tensor.shape:
                raise UserError(f"a checkpoint of another model: no fitting optimizer.{name}")
        self.updates = int(tensors[_UPDATES])
        for name, tensor in own.items():
            if name != _UPDATES:
                tensor.copy_(tensors[name])


def clip_gradients(model: nn.Module, limit: float) -> Tensor:
    """The norm of all gradients together, which are scaled down to `limit` when it is more.

    limit: 0 leaves the gradients as they are.
    """
    norm: Tensor = nn.utils.clip_grad_norm_(model.parameters(), limit or float("inf"))
    return norm


def _fused(adam: Adam, names: list[str], rate: float, decay: float) -> None:
    """One kernel for everything; what `torch.optim` calls with `fused=True`."""
    configuration = adam.configuration
    parameters: list[Tensor] = [adam.parameters[name] for name in names]
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    kernel = torch._fused_adamw_ if configuration.optimizer == "adamw" else torch._fused_adam_
    kernel(
        parameters,
        gradients,
        [adam.first[name] for name in names],
        [adam.second[name] for name in names],
        [],
        [torch.tensor(float(adam.updates))] * len(names),
        lr=rate,
        beta1=configuration.betas[0],
        beta2=configuration.betas[1],
        weight_decay=decay,
        eps=configuration.epsilon,
        amsgrad=False,
        maximize=False,
    )


def _plain(adam: Adam, names: list[str], rate: float, decay: float) -> None:
    """The same, a parameter at a time, for a torch without that kernel."""
    configuration = adam.configuration
    beta1, beta2 = configuration.betas
    for name in names:
        parameter, first, second = adam.parameters[name], adam.first[name], adam.second[name]
        gradient = parameter.grad
        assert gradient is not None
        if decay and configuration.optimizer == "adam":
            gradient = gradient.add(parameter, alpha=decay)
        elif decay:
            parameter.mul_(1 - rate * decay)
        first.lerp_(gradient, 1 - beta1)
        second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        root = (second / (1 - beta2**adam.updates)).sqrt_().add_(configuration.epsilon)
        parameter.addcdiv_(first, root, value=-rate / (1 - beta1**adam.updates))
