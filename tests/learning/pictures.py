"""Scenes of few shapes and colors as pictures with captions, and captioning recipes made small."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch

from regard.data.captions.data import CaptionData, Captioned
from regard.data.captions.pairs import caption_pairs
from regard.data.images.backbone import Backbone, load_backbone
from regard.data.pairs import Pairs
from regard.data.pictures import HeldGrids
from regard.data.scenes import Scene, generate_scenes, scene_text
from regard.data.scenes.picture import draw
from regard.data.scenes.scene import COLORS, SHAPES, Color, Shape
from regard.training.configuration import Configuration
from regard.training.recipes import load_recipe

#: A cell of the picture for each of the nine places where a shape can be.
BACKBONE = "{name: patches, image_size: 24, grid: 3}"
FEW_SHAPES: tuple[Shape, ...] = ("circle", "square", "star")
FEW_COLORS: tuple[Color, ...] = ("red", "green", "blue", "yellow")


def scenes_of_few_things(count: int) -> list[Scene]:
    """Scenes of one or two single things, no two described alike, first ones first."""
    found: dict[str, Scene] = {}
    for scene in _simple(generate_scenes(16 * count, 1)):
        found.setdefault(scene_text(scene, "en"), scene)
        if len(found) == count:
            return list(found.values())
    raise ValueError(f"there are {len(found)} such scenes among those drawn, not {count}")


def _simple(scenes: list[Scene]) -> Iterator[Scene]:
    for scene in scenes:
        if len(scene.things) > 2 or any(thing.count > 1 for thing in scene.things):
            continue
        things = tuple(
            replace(
                thing,
                shape=FEW_SHAPES[SHAPES.index(thing.shape) % len(FEW_SHAPES)],
                color=FEW_COLORS[COLORS.index(thing.color) % len(FEW_COLORS)],
            )
            for thing in scene.things
        )
        if len({(thing.shape, thing.color, thing.size) for thing in things}) == len(things):
            yield replace(scene, things=things)


def pictured(scenes: list[Scene], backbone: Backbone) -> Pairs:
    """Each scene's description as the caption of its picture."""
    prepared = torch.stack([backbone.prepare(draw(scene)) for scene in scenes])
    grids = HeldGrids(backbone(prepared), backbone.rows, backbone.columns)
    examples = tuple(
        Captioned(Path(f"{number}.png"), (scene_text(scene, "en"),), scene_text(scene, "en"))
        for number, scene in enumerate(scenes)
    )
    return caption_pairs(CaptionData(examples, "scenes"), grids)


def small_captioner(recipe: str, *more: str) -> tuple[Configuration, Backbone]:
    """The recipe, narrow, without dropout, over grids that know their rows and columns.

    A third of the picture is background, and captions are short: no penalty on places not seen.
    """
    transformer = load_recipe(recipe).model.decoder.kind == "transformer"
    sizes = ["decoder.size=96", "decoder.attention.size=64", "decoder.dropout=0"]
    if transformer:
        sizes = ["decoder.layers=1", "decoder.feed_forward_size=128", "decoder.dropout=0"]
    overrides = [
        f"backbone={BACKBONE}",
        "tokenization.target={kind: space}",
        "batching.tokens=960",
        "model.embedding.size=128",
        "model.embedding.dropout=0",
        "model.encoder={kind: grid, normalized: true, size: 64, positions: learned, dropout: 0}",
        *(f"model.{size}" for size in sizes),
        "training.learning_rate=0.01",
        "training.doubly_stochastic=0",
        "training.schedule=linear",
        "training.cooldown=0",
        "training.warmup=40",
        "training.label_smoothing=0",
        "training.maximum_updates=400",
        "training.validation_interval=5000",
        "training.average.kind=none",
        "training.threads=1",
        "training.metric=exact_match",
        "search.beam=1",
        *more,
    ]
    configuration = load_recipe(recipe, overrides)
    assert configuration.backbone is not None
    return configuration, load_backbone(configuration.backbone)
