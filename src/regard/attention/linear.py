"""A matrix as every mechanism here begins with one."""

from __future__ import annotations

from torch import nn


def glorot_linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """Glorot's uniform weights and a zero bias (Glorot and Bengio 2010, eq. 16)."""
    linear = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(linear.weight)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear
