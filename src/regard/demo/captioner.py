"""The demo's captioner: pictures of one or two shapes, and where each word of a caption looks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from regard.data.captions.data import CaptionData, Captioned
from regard.data.captions.pairs import caption_pairs
from regard.data.images.backbone import Backbone, load_backbone
from regard.data.pairs import Pairs
from regard.data.pictures import HeldGrids
from regard.data.scenes import Scene, scene_text, simple_scenes
from regard.data.scenes.picture import draw
from regard.demo.task import Task
from regard.training.recipes import load_recipe

RECIPE = "show-attend-tell-soft"
LEARNED, VALID, HELD_OUT = 2100, 40, 60
#: A cell of the grid for each of the nine places where a shape can be; a third of them is empty, so
#: there is no penalty on places that are not looked at.
SETTINGS = (
    "backbone={name: patches, image_size: 24, grid: 3}",
    "tokenization.target={kind: space}",
    "batching.tokens=600",
    "model.embedding.size=128",
    "model.embedding.dropout=0",
    "model.encoder={kind: grid, normalized: true, size: 64, positions: learned, dropout: 0}",
    "model.decoder.size=96",
    "model.decoder.attention.size=64",
    "model.decoder.dropout=0",
    "training.learning_rate=0.005",
    "training.schedule=constant",
    "training.warmup=40",
    "training.cooldown=0.3",
    "training.label_smoothing=0",
    "training.doubly_stochastic=0",
    "training.average.kind=none",
    "training.maximum_updates=3000",
    "training.validation_interval=500",
    "training.metric=exact_match",
    "search.beam=1",
)


def captioner(seed: int) -> Task:
    """Simple scenes and their English descriptions; soft attention at a small size."""
    scenes = simple_scenes(LEARNED + VALID + HELD_OUT, seed)
    learned, valid = scenes[:LEARNED], scenes[LEARNED : LEARNED + VALID]
    test = scenes[LEARNED + VALID :]
    backbone = captioner_backbone()
    return Task(
        name="captioner",
        heading="A captioner: pictures to English",
        about=(
            f"Show, Attend and Tell with soft attention, small, trained on {len(learned):,} "
            "pictures of one or two shapes. It reads a picture as nine squares of pixels, and was "
            "never told which word belongs to which square."
        ),
        recipe=RECIPE,
        settings=SETTINGS,
        train=pictured(learned, backbone),
        valid=pictured(valid, backbone),
        test=pictured(test, backbone),
        metrics=("exact_match", "bleu"),
        scenes=tuple(test),
        backbone=backbone,
    )


def captioner_backbone() -> Backbone:
    """What makes features of its pictures."""
    configuration = load_recipe(RECIPE, SETTINGS).backbone
    assert configuration is not None
    return load_backbone(configuration)


def pictured(scenes: Sequence[Scene], backbone: Backbone) -> Pairs:
    """Each scene's description as the caption of its picture."""
    prepared = torch.stack([backbone.prepare(draw(scene)) for scene in scenes])
    grids = HeldGrids(backbone(prepared), backbone.rows, backbone.columns)
    texts = [scene_text(scene, "en") for scene in scenes]
    examples = tuple(
        Captioned(Path(f"{number}.png"), (text,), text) for number, text in enumerate(texts)
    )
    return caption_pairs(CaptionData(examples, "scenes"), grids)
