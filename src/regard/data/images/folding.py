"""Folding: the published EfficientNet-Lite weights, each batch norm put into its convolution."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from regard.data.images.efficientnet import EfficientNetLite
from regard.errors import UserError

EPSILON = 1e-3


def fold(network: EfficientNetLite, published: dict[str, Tensor], origin: str) -> dict[str, Tensor]:
    """The weights of `network` out of the published ones.

    A batch norm in use is `gamma (x - mean) / sqrt(variance + EPSILON) + beta` of every channel: a
    scale and a shift, which the convolution before it takes over. Raises UserError, naming
    `origin`, when a tensor is missing or has another shape.
    """
    expected = network.state_dict()
    folded = {}
    try:
        for name, convolution, norm in _names(network):
            scale = published[f"{norm}.weight"] / torch.sqrt(
                published[f"{norm}.running_var"] + EPSILON
            )
            folded[f"{name}.weight"] = (
                published[f"{convolution}.weight"] * scale[:, None, None, None]
            )
            folded[f"{name}.bias"] = (
                published[f"{norm}.bias"] - published[f"{norm}.running_mean"] * scale
            )
    except (KeyError, RuntimeError) as error:
        raise UserError(f"{origin}: not the weights of this EfficientNet-Lite ({error})") from error
    for name, tensor in folded.items():
        if tensor.shape != expected[name].shape:
            raise UserError(
                f"{origin}: not the weights of this EfficientNet-Lite: {name} has shape "
                f"{tuple(tensor.shape)} and should have {tuple(expected[name].shape)}"
            )
    return folded


def _names(network: EfficientNetLite) -> Iterator[tuple[str, str, str]]:
    """For every convolution its name here, and those it and its batch norm are published under."""
    yield "stem", "_conv_stem", "_bn0"
    for number, block in enumerate(network.blocks):
        ours, theirs = f"blocks.{number}", f"_blocks.{number}"
        if block.expand is not None:
            yield f"{ours}.expand", f"{theirs}._expand_conv", f"{theirs}._bn0"
        yield f"{ours}.filter", f"{theirs}._depthwise_conv", f"{theirs}._bn1"
        yield f"{ours}.project", f"{theirs}._project_conv", f"{theirs}._bn2"
    if network.head is not None:
        yield "head", "_conv_head", "_bn1"
