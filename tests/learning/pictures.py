"""Captioning recipes made small, over pictures of simple scenes."""

from regard.data.images.backbone import Backbone, load_backbone
from regard.demo.captioner import SETTINGS
from regard.training.configuration import Configuration
from regard.training.recipes import load_recipe


def small_captioner(recipe: str, *more: str) -> tuple[Configuration, Backbone]:
    """The recipe, narrow, without dropout, over grids that know their rows and columns."""
    transformer = load_recipe(recipe).model.decoder.kind == "transformer"
    overrides = [each for each in SETTINGS if not (transformer and "model.decoder" in each)]
    if transformer:
        sizes = ("decoder.layers=1", "decoder.feed_forward_size=128", "decoder.dropout=0")
        overrides += [f"model.{size}" for size in sizes]
    overrides += [
        "batching.tokens=960",
        "training.maximum_updates=400",
        "training.validation_interval=5000",
        "training.threads=1",
        *more,
    ]
    configuration = load_recipe(recipe, overrides)
    assert configuration.backbone is not None
    return configuration, load_backbone(configuration.backbone)
