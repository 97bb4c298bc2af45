"""What stands between the recurrent layers of a stack."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from regard.nn.layers import Layers


class Stacking(nn.Module):
    """Each layer's output, before it is read: ``LayerNorm(h)``, and ``x + h`` above the first.

    Layer norm is that of Ba, Kiros & Hinton 2016 on what a layer gives; the sums are those of Wu
    et al. 2016 (section 3.1), over layers of one size. Neither touches what a layer carries from
    step to step.
    """

    def __init__(self, size: int, layers: int, *, layer_norm: bool, residual: bool) -> None:
        super().__init__()
        self.residual = residual
        self.norms: Layers[nn.LayerNorm] = Layers(
            nn.LayerNorm(size) for _ in range(layers if layer_norm else 0)
        )

    @property
    def plain(self) -> bool:
        """Whether a layer's output is its state."""
        return not self.residual and not self.norms

    def forward(
        self,
        number: int,
        states: Float[Tensor, "batch steps size"],
        inputs: Float[Tensor, "batch steps size"] | None,
    ) -> Float[Tensor, "batch steps size"]:
        """The output of layer ``number``, from 0, with these states over these inputs.

        ``inputs`` None, as of a first state, adds nothing.
        """
        outputs: Tensor = list(self.norms)[number](states) if self.norms else states
        return inputs + outputs if self.residual and number and inputs is not None else outputs
