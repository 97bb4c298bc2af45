"""How many numbers a model learns."""

from torch import nn


def parameters_of(model: nn.Module) -> int:
    """Those of all its parameters; what two parts share counts once."""
    return sum(parameter.numel() for parameter in model.parameters())
