"""The exponential average of the weights, which follows them from update to update."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from regard.errors import UserError
from regard.training.tensors import Tensors


def decay_after(decay: float, updates: int) -> float:
    """How much of the average is kept at the update of that number, the first being 1.

    ``min(decay, (1 + t) / (10 + t))``, as TensorFlow's ExponentialMovingAverage has it: at first
    the average reaches back over a ninth of the updates alone, so that the first weights, which are
    random, are soon forgotten.
    """
    return min(decay, (1 + updates) / (10 + updates))


class ExponentialAverage:
    """``a_t = d a_{t-1} + (1 - d) w_t`` of all trained parameters w, beginning with the first ones.

    Polyak and Juditsky 1992 average all weights; so the later ones count more. d: `decay_after`.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.values = {name: p.detach().clone() for name, p in self.parameters.items()}

    @torch.no_grad()
    def update(self, updates: int) -> None:
        """Take up the parameters as they are after so many updates."""
        share = 1 - decay_after(self.decay, updates)
        for name, parameter in self.parameters.items():
            self.values[name].lerp_(parameter, share)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Within, the model has the averages as its parameters; afterwards its own again."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    def _exchange(self) -> None:
        for name, parameter in self.parameters.items():
            parameter.data, self.values[name] = self.values[name], parameter.data

    def tensors(self) -> Tensors:
        """The averages by the names of their parameters, not copied."""
        return dict(self.values)

    @torch.no_grad()
    def fill(self, tensors: Mapping[str, Tensor]) -> None:
        """Put back what `tensors` gave. Raises UserError when it is not of these parameters."""
        for name, value in self.values.items():
            if name not in tensors or tensors[name].shape != value.shape:
                raise UserError(f"a checkpoint of another model: no fitting average.{name}")
        for name, value in self.values.items():
            value.copy_(tensors[name])
