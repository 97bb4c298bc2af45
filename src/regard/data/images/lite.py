"""Lite: EfficientNet-Lite with its published weights, as a backbone."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from regard.data.images.configuration import BackboneConfiguration
from regard.data.images.efficientnet import SCALES, EfficientNetLite
from regard.data.images.folding import fold
from regard.data.images.network import NetworkBackbone
from regard.data.images.weights import fill, packaged_weights, read_weights

MEAN, DEVIATION = (127.0, 127.0, 127.0), (128.0, 128.0, 128.0)


def make_lite(
    configuration: BackboneConfiguration, weights: dict[str, Tensor] | None = None
) -> NetworkBackbone:
    """The EfficientNet-Lite that the configuration names; weights as in `load_backbone`.

    Raises UserError when the package of weights is missing or a file of weights does not fit.
    """
    scale = SCALES[configuration.name]
    with torch.device("meta"):
        network = EfficientNetLite(scale, configuration.layer)
    if weights is None:
        named = configuration.weights
        path = packaged_weights(scale.package) if named is None else Path(named)
        weights = fold(network, read_weights(path), str(path))
    fill(network, weights)
    return NetworkBackbone(
        f"{configuration.name} {configuration.layer}",
        network,
        configuration.image_size or scale.image_size,
        mean=MEAN,
        deviation=DEVIATION,
        framing=configuration.framing,
    )
