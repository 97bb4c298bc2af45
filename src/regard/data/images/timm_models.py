"""timm's models, for whoever has timm installed."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from regard.data.images.configuration import BackboneConfiguration, Layer
from regard.data.images.network import NetworkBackbone
from regard.data.images.weights import fill, read_weights
from regard.errors import UserError

PREFIX = "timm/"


class TimmFeatures(nn.Module):
    """One layer of a timm model, as maps or as vectors.

    `head` is what the model pools, without its prefix tokens; `last` is the output of its last
    stage, `middle` that of the last stage with half the stride.
    """

    def __init__(self, model: Any, layer: Layer) -> None:
        super().__init__()
        self.model = model
        self.stage = None if layer == "head" else _stage(model, layer)

    def forward(self, images: Float[Tensor, "batch 3 height width"]) -> Float[Tensor, "batch ..."]:
        if self.stage is not None:
            maps: Tensor = self.model.forward_intermediates(
                images, indices=[self.stage], output_fmt="NCHW", intermediates_only=True
            )[0]
            return maps
        made: Tensor = self.model.forward_features(images)
        if made.dim() == 3:
            return made[:, getattr(self.model, "num_prefix_tokens", 0) :]
        colors_last = self.model.num_features not in made.shape[1:3]
        return made.permute(0, 3, 1, 2) if colors_last else made


def make_timm(
    configuration: BackboneConfiguration, weights: dict[str, Tensor] | None = None
) -> NetworkBackbone:
    """The timm model that `timm/NAME` names, with the colors as it wants them.

    weights: as `NetworkBackbone.weights` gave them; else those of the configuration's file; else
        those that timm itself has or fetches.
    Raises UserError when timm is missing, knows no such model, or has no weights for it.
    """
    timm = _timm()
    ours = weights is not None or configuration.weights is not None
    try:
        model = _create(timm, configuration, pretrained=not ours)
        settings = timm.data.resolve_model_data_config(model)
        features = TimmFeatures(model, configuration.layer)
    except UserError:
        raise
    except Exception as error:  # hubs, registries and a thousand models raise what they like
        raise UserError(
            f"timm cannot make {configuration.name.removeprefix(PREFIX)} ({error}); choose one of "
            "timm.list_models(), and give its weights as a file where timm has none"
        ) from error
    if weights is not None:
        fill(features, weights)
    elif configuration.weights is not None:
        _load(model, Path(configuration.weights))
    red, green, blue = settings["mean"]
    spread = settings["std"]
    return NetworkBackbone(
        f"{configuration.name} {configuration.layer}",
        features,
        configuration.image_size or settings["input_size"][-1],
        mean=(255 * red, 255 * green, 255 * blue),
        deviation=(255 * spread[0], 255 * spread[1], 255 * spread[2]),
        framing=configuration.framing,
    )


def _timm() -> ModuleType:
    try:
        import timm
    except ImportError as error:
        raise UserError(
            "this backbone needs timm, which is missing; pip install timm, or choose patches or "
            "efficientnet-lite0"
        ) from error
    module: ModuleType = timm
    return module


def _create(timm: ModuleType, configuration: BackboneConfiguration, pretrained: bool) -> Any:
    """The model without its classifier, for pictures of the size that is asked for."""
    name, size = configuration.name.removeprefix(PREFIX), configuration.image_size
    if not timm.is_model(name):
        raise UserError(f"timm has no model {name!r}; choose one of timm.list_models()")
    published = timm.models.get_pretrained_cfg(name)
    fixed = published is not None and published.fixed_input_size
    sized = {"img_size": size} if size is not None and fixed else {}
    return timm.create_model(name, pretrained=pretrained, num_classes=0, **sized)


def _load(model: nn.Module, path: Path) -> None:
    """A file's weights into a model; those of the classifier, which is left out, are passed over.

    Raises UserError when the file lacks any or they do not fit.
    """
    try:
        missing = model.load_state_dict(read_weights(path), strict=False).missing_keys
    except RuntimeError as error:
        raise UserError(f"{path}: weights of another model: {error}") from error
    if missing:
        raise UserError(f"{path}: weights of another model: it has no {missing[0]}")


def _stage(model: Any, layer: Layer) -> int:
    """Which of the model's intermediate outputs a layer is. Raises UserError where none is."""
    strides = [stage["reduction"] for stage in model.feature_info]
    wanted = strides[-1] if layer == "last" else strides[-1] / 2
    found = [index for index, stride in enumerate(strides) if stride == wanted]
    if not found:
        raise UserError(
            f"no stage of this model has half the stride of its last, which is layer {layer!r}; "
            "choose head or last"
        )
    return found[-1]
