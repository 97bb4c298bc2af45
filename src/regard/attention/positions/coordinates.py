"""The Universal Transformer's coordinates over position and step."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.positions.sinusoidal import sinusoids


def coordinate_positions(
    length: int,
    size: int,
    step: int,
    *,
    start: int = 1,
    device: torch.device | None = None,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "length size"]:
    """``P^t`` of step ``t``, added to the state before every step.

    ``P^t[pos, 2j] = sin(pos / 10000^(2j/size)) + sin(t / 10000^(2j/size))``, cosines for ``2j+1``
    (Dehghani et al. 2019, eq. 6 and 7; EQUATIONS C4). Positions and steps count from 1, as in the
    paper. Odd sizes end with a sine.

    Raises:
        ValueError: a step below 1.
    """
    if step < 1:
        raise ValueError(f"steps count from 1, not {step}")
    positions = torch.arange(start, start + length, device=device, dtype=torch.float64)
    steps = torch.full((1,), step, device=device, dtype=torch.float64)
    return (sinusoids(positions, size) + sinusoids(steps, size)).to(dtype)
